import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An exchange's state. The mutating methods are the transitions. Each returns the work to do after unlocking.
struct ExchangeState {
    /// An exchange's life, in this order. Phases may be skipped.
    enum Phase {
        /// Waiting for the limiter.
        case waiting
        /// The network stack has the request, and no head has arrived.
        case sending
        /// The head has arrived, and the body goes into a sink.
        case receiving(HTTPURLResponse, BodySink)
        /// The end is known, and the event is on the way.
        case delivering
        /// The event was delivered, the stream ended, or the exchange was cancelled.
        case finished
    }

    /// An exchange's end.
    enum Ending {
        case success(HTTPURLResponse, BodySink, TransferMetrics)
        case failure(any Error, BodySink?)
        case endOfStream(StreamBuffer, (any Error)?)
    }

    private(set) var phase = Phase.waiting
    /// The request's `Cookie` header; `nil` without cookies, and before the beginning.
    var cookie: String?
    /// Stops the network stack. `nil` before the start and after the end.
    private var transfer: (any Disposable)?
    /// Whether the network stack has ended by itself, maybe before returning `transfer`.
    private var isTransferComplete = false
    private var progress = TransferProgress()
    private var reportsBody = true
    var stopwatch = TransferStopwatch()
    /// The requested stream's media type, if the response has another body. That body is collected, because it may be an error.
    var expectedStreamType: String?
    /// When the exchange must have ended, in nanoseconds of the transport's clock.
    private let latestEnd: UInt64
    /// The longest time without activity, in nanoseconds.
    private let idleTimeout: UInt64
    private let isHead: Bool
    /// `nil` before the beginning, and while the stream's reader is behind.
    private var lastActivity: UInt64?

    /// - Parameter settings: The timeouts. 0 or less means the default. A stream may take forever.
    init(_ request: PreparedRequest, _ settings: ExchangeTransport.Settings, createdAt now: UInt64) {
        let resourceTimeout = settings.timeoutIntervalForResource.nanoseconds ?? 604_800_000_000_000
        isHead = request.method == .head
        latestEnd = request.bodyDestination.isStream ? .max : now + resourceTimeout
        idleTimeout = request.timeoutInterval?.nanoseconds ?? settings.timeoutInterval.nanoseconds ?? 60_000_000_000
    }

    /// When the exchange times out without activity; `nil` for an ended exchange.
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

    /// Returns false if too late to send the request.
    mutating func begin(at now: UInt64) -> Bool {
        guard isWaiting else { return false }
        (phase, lastActivity) = (.sending, now)
        stopwatch.metrics.queueDuration = stopwatch.lap()
        return true
    }

    /// Stores `transfer`, which stops the network stack, unless the stack has ended by itself. Returns false if the exchange is finished
    /// and the stack is not: then dispose `transfer`.
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

    /// Restarts the idle time.
    mutating func resumeIdleTime(at now: UInt64) { lastActivity = now }

    /// Stores `count` sent bytes of the request's body, of `total`, or `nil` for an unknown total.
    mutating func didSend(_ count: Int64, of total: Int64?, at now: UInt64) {
        recordActivity(at: now)
        guard isOpen else { return }
        (progress.bytesSent, progress.bytesToSend) = (count, total.flatMap { $0 > 0 ? $0 : nil })
    }

    /// The progress to report; `nil` before the beginning and after the end.
    var reportedProgress: TransferProgress? { isOpen && reportsBody ? progress.withoutExceededTotals : nil }

    // MARK: - The response

    /// Stores a head. Returns whether the sink is still memory, and may be replaced; `nil` before the beginning and after the end.
    ///
    /// - Parameter reportsBody: Whether the progress counts the body's bytes.
    mutating func receive(_ response: HTTPURLResponse, reportsBody: Bool, at now: UInt64) -> Bool? {
        recordActivity(at: now)
        switch phase {
        case .sending:
            phase = .receiving(response, .memory(Data()))
            stopwatch.metrics.timeToFirstByte = stopwatch.lap()
        // `multipart/x-mixed-replace` repeats the head.
        case .receiving(_, let sink): phase = .receiving(response, sink)
        case .waiting, .delivering, .finished: return nil
        }
        self.reportsBody = reportsBody
        if reportsBody { progress.bytesToReceive = response.bodyLength }
        return if case .receiving(_, .memory) = phase { true } else { false }
    }

    /// Replaces the sink. Returns the metrics so far, for a stream's response; `nil` for an ended exchange.
    mutating func replaceSink(with sink: BodySink) -> TransferMetrics? {
        guard case .receiving(let response, _) = phase else { return nil }
        // A file may have bytes from an earlier attempt.
        if let file = sink.file, file.start > 0 { (progress.bytesReceived, progress.bytesToReceive) = (file.start, file.length) }
        phase = .receiving(response, sink)
        return stopwatch.metrics
    }

    /// Accepts part of the body. A body in memory grows here; the caller writes to files and streams after unlocking.
    ///
    /// - Parameter now: The time, if the bytes count as activity.
    /// - Returns: The file or the stream to write to; `.memory` if nothing is left to do; `nil` before the beginning and after the end.
    mutating func receive(_ chunk: Data, limits: (inMemory: Int?, inFile: Int?), at now: UInt64?) throws -> BodySink? {
        if let now { recordActivity(at: now) }
        guard isOpen else { return nil }
        progress.bytesReceived += Int64(chunk.count)
        // Bytes without a head are dropped.
        guard case .receiving(let response, var sink) = phase else { return .memory(Data()) }
        let limit = sink.file == nil ? limits.inMemory : limits.inFile
        if let limit, stream == nil, progress.bytesReceived > limit {
            throw URLError.responseTooLarge(limit: limit, isInMemory: limits.inFile == nil)
        }
        guard case .memory = sink else { return sink }
        // `phase` gives up the reference first, so appending makes no copy.
        phase = .sending
        sink.append(chunk)
        phase = .receiving(response, sink)
        return .memory(Data())
    }

    // MARK: - The end

    /// Ends the exchange: later heads and bytes are ignored. Returns the end; `nil` if already ended.
    mutating func end(_ error: (any Error)?) -> Ending? {
        switch phase {
        case .waiting, .sending:
            phase = .delivering
            return .failure(error ?? URLError(.badServerResponse), nil)
        case .receiving(let response, let sink):
            let error =
                error.map { response.wrappingCodingError($0) } ?? (progress.bytesReceived == 0 ? truncationError(for: response) : nil)
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

    /// The error for a compressed body that broke off before the first decoded byte. Network stacks do not report that.
    private func truncationError(for response: HTTPURLResponse) -> URLError? {
        guard response.isSuccessful, response.statusCode != 204, !isHead,
            let coding = response.joinedValue(forHTTPHeaderField: "Content-Encoding")?.lowercased(),
            let emptyBodyLengths = Self.emptyBodyLengths[coding],
            let length = response.joinedValue(forHTTPHeaderField: "Content-Length").flatMap({ $0[...].number })
        else { return nil }
        return length > 0 && !emptyBodyLengths.contains(length) ? URLError(.cannotDecodeRawData) : nil
    }

    /// How long an empty body is when it is compressed. An empty gzip that also names a file is longer, and is taken for a truncated body.
    fileprivate static let emptyBodyLengths: [String: ClosedRange<Int64>] = [
        "gzip": 20...25, "x-gzip": 20...25, "deflate": 2...11, "br": 1...3, "zstd": 9...13,
    ]

    /// Ends the exchange after the network stack has ended by itself. Returns the stack's disposable only to be released outside the lock.
    mutating func complete(_ error: (any Error)?) -> (ending: Ending?, transfer: (any Disposable)?) {
        isTransferComplete = true
        return (end(error), transfer.take())
    }

    /// Finishes the exchange, so that the caller may deliver the event. Returns false if already cancelled.
    mutating func claimDelivery() -> Bool {
        guard case .delivering = phase else { return false }
        phase = .finished
        return true
    }

    /// Cancels the exchange. Returns the previous phase, and the disposable that stops the network stack.
    mutating func cancel() -> (phase: Phase, transfer: (any Disposable)?) {
        defer { phase = .finished }
        return (phase, transfer.take())
    }
}

// MARK: - Reasons of errors

extension HTTPURLResponse {
    /// The error with a reason that names the body's coding, if unknown here.
    fileprivate func wrappingCodingError(_ error: any Error) -> any Error {
        guard let urlError = error as? URLError, urlError.code == .cannotDecodeContentData,
            let coding = joinedValue(forHTTPHeaderField: "Content-Encoding"), coding.isToken,
            // With a known coding, the Transfer-Encoding is the unknown one.
            ExchangeState.emptyBodyLengths[coding.lowercased()] == nil
        else { return error }
        let reason = "\(url?.host ?? "the host") sent a body with the Content-Encoding \(coding), which is not known here"
        return URLError(urlError.code, reason: reason, userInfo: urlError.userInfo)
    }
}

extension URLError {
    /// The error without the request's URL, which may contain a secret. An ``APIError`` has the request. A proxy's URL stays.
    func removingURL(of request: PreparedRequest) -> URLError {
        guard failingURL?.origin == request.url.origin else { return self }
        return URLError(code, userInfo: userInfo.filter { !$0.key.contains("FailingURL") })
    }

    /// Adds a reason to the error of a request with a large body: servers often refuse one by just closing. Nobody knows how much the server
    /// read, because sent bytes may still be in the system's buffers.
    func addingSizeHint(for request: PreparedRequest) -> URLError {
        guard code == .networkConnectionLost, let bodySize = request.body?.count, bodySize > 65_536 else { return self }
        let host = request.url.host ?? "the host"
        let reason = "\(host) closed the connection before its answer came; does it take a body of \(bodySize) bytes?"
        return URLError(code, reason: reason, userInfo: userInfo)
    }
}

extension TransferProgress {
    /// An exceeded total was wrong.
    fileprivate var withoutExceededTotals: TransferProgress {
        var progress = self
        if let total = bytesToSend, total < bytesSent { progress.bytesToSend = nil }
        if let total = bytesToReceive, total < bytesReceived { progress.bytesToReceive = nil }
        return progress
    }
}

extension TimeInterval {
    /// `nil` for 0 or less; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
