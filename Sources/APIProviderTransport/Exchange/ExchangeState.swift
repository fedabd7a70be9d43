import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of an exchange. Its mutating methods are the transitions. Each returns the work to do after unlocking.
struct ExchangeState {
    /// The life of an exchange. It goes down this list, and may skip phases.
    enum Phase {
        /// It waits for its turn.
        case waiting
        /// The network stack has the request, and no head has come.
        case sending
        /// The head has come, and the body goes into a sink.
        case receiving(HTTPURLResponse, BodySink)
        /// Its end is known, and the event is on its way.
        case delivering
        /// The event was delivered, the stream has ended, or the exchange was cancelled.
        case finished
    }

    /// The end of an exchange.
    enum Ending {
        case success(HTTPURLResponse, BodySink, TransferMetrics)
        case failure(any Error, BodySink?)
        case endOfStream(StreamBuffer, (any Error)?)
    }

    private(set) var phase = Phase.waiting
    /// The header `Cookie` that the request is sent with; `nil` without cookies, and before it has begun.
    var cookie: String?
    /// Stops the network stack. `nil` before it has started and after it has ended.
    private var transfer: (any Disposable)?
    /// Whether the network stack has ended by itself, maybe before its start has returned `transfer`.
    private var isTransferComplete = false
    private var progress = TransferProgress()
    private var reportsBody = true
    var stopwatch = TransferStopwatch()
    /// The media type of the stream that was asked for, if the response has another body, which is collected because it may be an error.
    var expectedStreamType: String?
    /// The time at which the exchange must have ended, in nanoseconds of the transport's clock.
    private let latestEnd: UInt64
    /// The longest time without activity, in nanoseconds.
    private let idleTimeout: UInt64
    private let isHead: Bool
    /// `nil` before the exchange has begun, and while the reader of its stream is behind.
    private var lastActivity: UInt64?

    /// - Parameter settings: The timeouts. One that is not above 0 means the default. A stream may take for ever.
    init(_ request: PreparedRequest, _ settings: ExchangeTransport.Settings, createdAt now: UInt64) {
        let resourceTimeout = settings.timeoutIntervalForResource.nanoseconds ?? 604_800_000_000_000
        isHead = request.method == .head
        latestEnd = request.bodyDestination.isStream ? .max : now + resourceTimeout
        idleTimeout = request.timeoutInterval?.nanoseconds ?? settings.timeoutInterval.nanoseconds ?? 60_000_000_000
    }

    /// The time at which the exchange times out if nothing happens; `nil` if it has ended.
    var deadline: UInt64? {
        switch phase {
        case .waiting, .sending, .receiving: min(latestEnd, lastActivity.map { $0 + idleTimeout } ?? .max)
        case .delivering, .finished: nil
        }
    }

    var isWaiting: Bool {
        if case .waiting = phase { true } else { false }
    }

    var stream: StreamBuffer? {
        if case .receiving(_, let sink) = phase { sink.stream } else { nil }
    }

    /// Whether nothing is left to cancel.
    var isOver: Bool {
        if case .finished = phase { transfer == nil } else { false }
    }

    private var isOpen: Bool {
        switch phase {
        case .sending, .receiving: true
        case .waiting, .delivering, .finished: false
        }
    }

    // MARK: - Beginning

    /// Returns false if it is too late to send the request.
    mutating func begin(at now: UInt64) -> Bool {
        guard isWaiting else { return false }
        (phase, lastActivity) = (.sending, now)
        stopwatch.metrics.queueDuration = stopwatch.lap()
        return true
    }

    /// Keeps `transfer`, which stops the network stack, unless the stack has ended by itself. Returns false if the exchange is finished and
    /// the stack has not ended: then dispose `transfer`.
    mutating func didStart(_ transfer: any Disposable) -> Bool {
        if isTransferComplete { return true }
        if case .finished = phase { return false }
        self.transfer = transfer
        return true
    }

    // MARK: - Activity and progress

    mutating func recordActivity(at now: UInt64) {
        if lastActivity != nil { lastActivity = now }
    }

    /// Pauses the idle time. Returns whether it was running.
    mutating func pauseIdleTime() -> Bool { lastActivity.take() != nil }

    /// Begins the idle time again.
    mutating func resumeIdleTime(at now: UInt64) { lastActivity = now }

    /// Stores that `count` bytes of the request's body were sent, of `total`, which is `nil` while it is unknown.
    mutating func didSend(_ count: Int64, of total: Int64?, at now: UInt64) {
        recordActivity(at: now)
        guard isOpen else { return }
        (progress.bytesSent, progress.bytesToSend) = (count, total.flatMap { $0 > 0 ? $0 : nil })
    }

    /// The progress to report; `nil` if the exchange has not begun or has ended.
    var reportedProgress: TransferProgress? { isOpen && reportsBody ? progress.withoutExceededTotals : nil }

    // MARK: - The response

    /// Stores a head. Returns whether the sink is still memory, and may be replaced; `nil` if the exchange has not begun or has ended.
    ///
    /// - Parameter reportsBody: Whether the progress counts the bytes of the body.
    mutating func receive(_ response: HTTPURLResponse, reportsBody: Bool, at now: UInt64) -> Bool? {
        recordActivity(at: now)
        switch phase {
        case .sending:
            phase = .receiving(response, .memory(Data()))
            stopwatch.metrics.timeToFirstByte = stopwatch.lap()
        // The head of `multipart/x-mixed-replace` comes again.
        case .receiving(_, let sink): phase = .receiving(response, sink)
        case .waiting, .delivering, .finished: return nil
        }
        self.reportsBody = reportsBody
        if reportsBody { progress.bytesToReceive = response.bodyLength }
        return if case .receiving(_, .memory) = phase { true } else { false }
    }

    /// Replaces the sink. Returns the metrics so far, which the response of a stream gets; `nil` if the exchange has ended.
    ///
    /// - Parameter start: The number of bytes that are there already, and of the whole.
    mutating func replaceSink(with sink: BodySink, from start: (count: Int64, length: Int64?)? = nil) -> TransferMetrics? {
        guard case .receiving(let response, _) = phase else { return nil }
        if let start, start.count > 0 { (progress.bytesReceived, progress.bytesToReceive) = start }
        phase = .receiving(response, sink)
        return stopwatch.metrics
    }

    /// Accepts bytes of the body. Those that go into memory are appended; others are left to the caller, to be written after unlocking.
    ///
    /// - Parameter now: The time, if the bytes count as activity.
    /// - Returns: The file or the stream to write the bytes to; `.memory` if nothing is left to do; `nil` if the exchange has not begun or
    ///   has ended.
    mutating func receive(_ chunk: Data, limit: Int?, at now: UInt64?) throws -> BodySink? {
        if let now { recordActivity(at: now) }
        guard isOpen else { return nil }
        progress.bytesReceived += Int64(chunk.count)
        if let limit, stream == nil, progress.bytesReceived > limit { throw URLError.responseTooLarge(limit: limit) }
        // Bytes without a head are dropped.
        guard case .receiving(let response, var sink) = phase else { return .memory(Data()) }
        guard case .memory = sink else { return sink }
        // `phase` gives up its reference first, so the bytes are appended without a copy.
        phase = .sending
        sink.append(chunk)
        phase = .receiving(response, sink)
        return .memory(Data())
    }

    // MARK: - The end

    /// Ends the exchange: later heads and bytes are ignored. Returns its end; `nil` if it has ended before.
    mutating func end(_ error: (any Error)?) -> Ending? {
        switch phase {
        case .waiting, .sending:
            phase = .delivering
            return .failure(error ?? URLError(.badServerResponse), nil)
        case .receiving(let response, let sink):
            let error = error.map { response.explaining($0) } ?? (progress.bytesReceived == 0 ? emptyBodyFailure(of: response) : nil)
            if let stream = sink.stream {
                phase = .finished
                return .endOfStream(stream, error)
            }
            phase = .delivering
            if let error {
                let reason = expectedStreamType.map { "the response is not \($0), and its body did not end in time" }
                return .failure(reason.map { URLError(.cannotDecodeContentData, reason: $0) } ?? error, sink)
            }
            stopwatch.metrics.bodyDuration = stopwatch.lap()
            return .success(response, sink, stopwatch.metrics)
        case .delivering, .finished:
            return nil
        }
    }

    /// The error of a compressed body of which no byte could be decoded, because it broke off. Network stacks do not report that.
    private func emptyBodyFailure(of response: HTTPURLResponse) -> URLError? {
        guard response.isSuccessful, response.statusCode != 204, !isHead,
            let coding = response.joinedValue(forHTTPHeaderField: "Content-Encoding")?.lowercased(),
            let lengthsOfEmptyBody = Self.lengthsOfEmptyBody[coding],
            let length = response.joinedValue(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) })
        else { return nil }
        return length > 0 && !lengthsOfEmptyBody.contains(length) ? URLError(.cannotDecodeRawData) : nil
    }

    /// The lengths that each coding gives to an empty body. A gzip that contains the name of its file is longer, and looks like one that
    /// breaks off.
    fileprivate static let lengthsOfEmptyBody = ["gzip": 20...25, "x-gzip": 20...25, "deflate": 2...11, "br": 1...3, "zstd": 9...13]

    /// Ends the exchange after the network stack has ended by itself, and gives up the disposable that stops the stack. That is returned
    /// only so that it is released outside of the lock.
    mutating func complete(_ error: (any Error)?) -> (ending: Ending?, transfer: (any Disposable)?) {
        isTransferComplete = true
        return (end(error), transfer.take())
    }

    /// Finishes the exchange, so that the caller may deliver its event. Returns false if it was cancelled before.
    mutating func claimDelivery() -> Bool {
        guard case .delivering = phase else { return false }
        phase = .finished
        return true
    }

    /// Cancels the exchange. Returns the phase before, and the disposable that stops the network stack.
    mutating func cancel() -> (phase: Phase, transfer: (any Disposable)?) {
        defer { phase = .finished }
        return (phase, transfer.take())
    }
}

// MARK: - Reasons of errors

extension HTTPURLResponse {
    /// The error with a reason that names the coding of the body, if that is not known.
    fileprivate func explaining(_ error: any Error) -> any Error {
        guard let urlError = error as? URLError, urlError.code == .cannotDecodeContentData,
            let coding = joinedValue(forHTTPHeaderField: "Content-Encoding"), coding.isToken,
            // Then it is the Transfer-Encoding that is not known.
            ExchangeState.lengthsOfEmptyBody[coding.lowercased()] == nil
        else { return error }
        let reason = "\(url?.host ?? "the host") sent a body with the Content-Encoding \(coding), which is not known here"
        return URLError(urlError.code, reason: reason, userInfo: urlError.userInfo)
    }
}

extension URLError {
    /// Adds a reason to the error of a large request: servers that refuse it often just close. Nobody knows how much the server has read,
    /// because bytes that were sent may still be in the buffers of the system.
    func addingSizeHint(for request: PreparedRequest) -> URLError {
        let (bodySize, headSize) = (request.body?.count ?? 0, request.headSize)
        let host = request.url.host ?? "the host"
        let reason: String
        switch code {
        case .networkConnectionLost where bodySize > 65_536:
            reason = "\(host) closed the connection before its answer came; does it take a body of \(bodySize) bytes?"
        case .networkConnectionLost where headSize > 8_192:
            reason = "\(host) closed the connection before its answer came; does it take a head of \(headSize / 1_000) KB?"
        // Over HTTP/2, libcurl sends no such head, and waits.
        case .timedOut where headSize > 65_536: reason = "it timed out; does \(host) take a head of \(headSize / 1_000) KB?"
        default: return self
        }
        return URLError(code, reason: reason, userInfo: userInfo)
    }
}

extension PreparedRequest {
    /// The approximate size of the head in bytes. The transport adds some fields.
    fileprivate var headSize: Int {
        headers.reduce(url.absoluteString.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}

extension TransferProgress {
    /// A total that is exceeded was wrong.
    fileprivate var withoutExceededTotals: TransferProgress {
        var progress = self
        if let total = bytesToSend, total < bytesSent { progress.bytesToSend = nil }
        if let total = bytesToReceive, total < bytesReceived { progress.bytesToReceive = nil }
        return progress
    }
}

extension TimeInterval {
    /// `nil` unless there is time to wait; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
