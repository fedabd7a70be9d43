import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What has come of a response: its bytes, its file, its progress, its time, and the one event at the end.
final class Transfer: @unchecked Sendable {  // What is no lock is touched by one call at a time, as `Exchange` asks for.
    /// Decoding runs where events come, and not where the bytes of all requests do.
    private static let events = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    /// What is held until the transfer is complete or cancelled, whichever comes first.
    private struct UnderWay {
        let progress: (@Sendable (TransferProgress) -> Void)?
        let observer: Single<APIResponse>.SingleObserver
        /// Where the body goes; `nil` is into memory.
        var file: PartialFile?
        /// When the timer ends the transfer, unless something happens before.
        var deadline: UInt64
    }

    private let request: URLRequest
    private let destination: URL?
    private let maximum: Int?
    private let timer: TransferTimer?
    private let silence: UInt64
    private let isReporting: Bool
    private let end: UInt64
    private let underWay: Locked<UnderWay?>
    private var response: HTTPURLResponse?
    private var data = Data()
    private var transferred = TransferProgress()

    /// - Parameters:
    ///   - destination: The file for the body of an accepted response; `nil` keeps every body in memory.
    ///   - maximum: How many bytes the body may have.
    ///   - timer: Ends the transfer by `limits`; `nil` leaves that to the session.
    init(
        request: URLRequest, destination: URL?, maximum: Int?, progress: (@Sendable (TransferProgress) -> Void)?, limits: TimeLimits,
        timer: TransferTimer?, observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        (self.request, self.destination, self.maximum, self.timer, silence) = (request, destination, maximum, timer, limits.silence)
        isReporting = progress != nil
        let end = timer.map { $0.now + limits.whole } ?? .max
        self.end = end
        underWay = Locked(UnderWay(progress: progress, observer: observer, deadline: end))
        timer?.add(self)
    }

    /// Whether nothing more is taken.
    var isOver: Bool { underWay.withLock { $0 == nil } }

    /// When the timer ends the transfer, in its nanoseconds.
    var deadline: UInt64 { underWay.withLock { $0?.deadline } ?? .max }

    /// The time is over.
    func expire() { complete(URLError(.timedOut)) }

    /// The request goes out: silence counts from now on.
    func begin() {
        guard let timer else { return }
        live()
        timer.add(self)
        // It may have been cancelled meanwhile, and removed too early.
        if underWay.withLock({ $0 == nil }) { timer.remove(self) }
    }

    /// Bytes have come or gone: silence counts from now on.
    private func live() {
        guard let timer else { return }
        let deadline = min(timer.now + silence, end)
        underWay.withLock { $0?.deadline = deadline }
    }

    /// The response comes from a protocol class. It has taken the whole body, and no session tells of that.
    func receiveFromProtocol() {
        guard let count = request.httpBody?.count, count > 0, transferred.bytesSent == 0 else { return }
        sent(Int64(count), of: Int64(count))
    }

    func sent(_ count: Int64, of total: Int64?) {
        live()
        transferred.bytesSent = count
        transferred.bytesToSend = total.flatMap { $0 > 0 ? $0 : nil }
        report()
    }

    /// The status says where the body goes. False when it cannot go there.
    func receive(_ response: HTTPURLResponse) -> Bool {
        live()
        self.response = response
        if isReporting { transferred.bytesToReceive = response.bodyLength }
        guard let destination, response.isAccepted else { return true }
        // The head of a response may come again: that of `multipart/x-mixed-replace` does.
        return go { try underWay.withLock { if $0?.file == nil { try $0?.file = PartialFile(beside: destination) } } }
    }

    /// False when this chunk cannot be taken, or is not wanted any more.
    func receive(_ chunk: Data) -> Bool {
        live()
        guard let file = underWay.withLock({ $0.map(\.file) }) else { return false }
        transferred.bytesReceived += Int64(chunk.count)
        let isTaken = go {
            if let maximum, transferred.bytesReceived > maximum { throw URLError.passed(maximum) }
            if let file { try file.append(chunk) } else { data.append(chunk) }
        }
        guard isTaken else { return false }
        report()
        return true
    }

    /// A failed step ends the transfer at once: what has already been queued, may take long to come.
    private func go(_ step: () throws -> Void) -> Bool {
        do {
            try step()
            return true
        } catch {
            data = Data()
            complete(error)
            return false
        }
    }

    /// Ends with the response, or with `error`.
    func complete(_ error: (any Error)?) {
        // A file is moved under the lock, so that a `cancel` that has returned leaves the whole of it or nothing.
        let end = underWay.withLock { $0.take().map { (last: $0, event: event(error, $0.file)) } }
        guard let end else { return }
        timer?.remove(self)
        Self.events.async { end.last.observer(end.event) }
    }

    /// No event comes from now on, no progress but what another thread is telling at this moment, and nothing is left behind.
    func cancel() {
        guard let last = underWay.withLock({ $0.take() }) else { return }
        timer?.remove(self)
        last.file?.remove()
    }

    private func report() {
        guard isReporting else { return }
        // A total that is exceeded was wrong.
        if let total = transferred.bytesToSend, total < transferred.bytesSent { transferred.bytesToSend = nil }
        if let total = transferred.bytesToReceive, total < transferred.bytesReceived { transferred.bytesToReceive = nil }
        underWay.withLock { $0?.progress }?(transferred)
    }

    private func event(_ error: (any Error)?, _ file: PartialFile?) -> SingleEvent<APIResponse> {
        do {
            if let error { throw error }
            guard let response else { throw URLError(.badServerResponse) }
            try file?.moveToDestination()
            return .success(APIResponse(request: request, response: response, data: data))
        } catch {
            file?.remove()
            return .failure(APIError.transport(request, underlying: explaining(error)))
        }
    }

    /// Adds a reason if the connection was lost before a large body had an answer: a server closes it that does not want to read the body. How
    /// much of the body the server has read, and not only the system, is not known.
    private func explaining(_ error: any Error) -> any Error {
        guard let error = error as? URLError, error.code == .networkConnectionLost, response == nil,
            let count = request.bodyLength, count > 65_536
        else { return error }
        let host = request.url?.host ?? "the host"
        let reason = "\(host) closed the connection before its answer came; does it take a body of \(count) bytes?"
        return URLError(error.code, userInfo: error.userInfo.merging([URLError.reasonKey: reason]) { $1 })
    }
}

extension URLError {
    fileprivate static func passed(_ maximum: Int) -> URLError {
        let text = "the response is larger than the transport's maximumResponseSize of \(maximum) bytes"
        return URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
