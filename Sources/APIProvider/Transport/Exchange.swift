import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request on its way, and what has come of the response.
final class Exchange: @unchecked Sendable {  // What is no lock is touched on the session's serial delegate queue alone.
    /// Decoding runs where events come: not on the session's queue, of which there is one for all requests.
    private static let events = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    /// What is held until the session completes the exchange or it is cancelled, whichever comes first.
    private struct UnderWay {
        let progress: (@Sendable (TransferProgress) -> Void)?
        let observer: Single<APIResponse>.SingleObserver
        /// Where the body goes; `nil` is into memory.
        var file: PartialFile?
    }

    private let request: URLRequest
    private let destination: URL?
    private let underWay: Locked<UnderWay?>
    private var data = Data()
    private var transferred = TransferProgress()
    var isChallenged = false

    /// - Parameter destination: The file for the body of an accepted response; `nil` keeps every body in memory.
    init(
        request: URLRequest, destination: URL?, progress: (@Sendable (TransferProgress) -> Void)?,
        observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        self.request = request
        self.destination = destination
        underWay = Locked(UnderWay(progress: progress, observer: observer))
    }

    func sent(_ count: Int64, of total: Int64) {
        transferred.bytesSent = count
        transferred.bytesToSend = total > 0 ? total : nil
        report()
    }

    /// The status says where the body goes. False when it cannot go there.
    func begin(_ response: URLResponse) -> Bool {
        guard let destination, (response as? HTTPURLResponse)?.isAccepted == true else { return true }
        // The head of a response may come again: that of `multipart/x-mixed-replace` does.
        return go { try underWay.withLock { if $0?.file == nil { try $0?.file = PartialFile(beside: destination) } } }
    }

    /// False when this chunk cannot be taken.
    func receive(_ chunk: Data, from task: URLSessionTask, maximum: Int?) -> Bool {
        guard let file = underWay.withLock({ $0.map(\.file) }) else { return true }
        transferred.bytesReceived += Int64(chunk.count)
        let isTaken = go {
            if let maximum, transferred.bytesReceived > maximum { throw URLError.passed(maximum) }
            if let file { try file.append(chunk) } else { data.append(chunk) }
        }
        guard isTaken else { return false }
        transferred.bytesToReceive = task.bytesToReceive
        report()
        return true
    }

    /// A failed step ends the exchange at once: what the session has already queued, it may take long to deliver.
    private func go(_ step: () throws -> Void) -> Bool {
        do {
            try step()
            return true
        } catch {
            data = Data()
            complete(nil, error)
            return false
        }
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        // A file is moved under the lock, so that a `cancel` that has returned leaves the whole of it or nothing.
        let end = underWay.withLock { $0.take().map { (last: $0, event: event(response, error, $0.file)) } }
        guard let end else { return }
        Self.events.async { end.last.observer(end.event) }
    }

    /// Cancels `task`, unless it has completed. No event comes from now on, no progress but what another thread is telling at this moment, and
    /// nothing is left behind.
    func cancel(_ task: URLSessionTask) {
        guard let last = underWay.withLock({ $0.take() }) else { return }
        last.file?.remove()
        task.cancelFromAnywhere()
    }

    private func report() {
        underWay.withLock { $0?.progress }?(transferred)
    }

    private func event(_ response: URLResponse?, _ error: (any Error)?, _ file: PartialFile?) -> SingleEvent<APIResponse> {
        do {
            let response = response as? HTTPURLResponse
            // On Linux the response comes whole, then the challenge, and when that is rejected, this error.
            let isWhole = isChallenged && response != nil && (error as? URLError)?.code == .cancelled
            if let error, !isWhole { throw error }
            guard let response else { throw URLError(.badServerResponse) }
            try file?.moveToDestination()
            return .success(APIResponse(request: request, response: response, data: data))
        } catch {
            file?.remove()
            return .failure(APIError.transport(request, underlying: error))
        }
    }
}

extension URLError {
    fileprivate static func passed(_ maximum: Int) -> URLError {
        let text = "the response is larger than the transport's maximumResponseSize of \(maximum) bytes"
        return URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
