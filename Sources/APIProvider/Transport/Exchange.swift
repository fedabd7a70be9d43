public import Foundation
import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request in flight. The closure of an ``ExchangeTransport`` sends it, and tells it what comes back.
///
/// Call it from any thread, one call at a time. After ``complete(with:)`` and after a dispose, calls do nothing.
public final class Exchange: Sendable {
    /// Events are sent and decoded here, so that decoding does not hold up the bytes of other requests.
    private static let events = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    /// What the network stack does.
    private enum Stack {
        /// Nothing yet: it is not the exchange's turn.
        case waiting
        case starting
        case running(any Disposable)
        case stopped
        case done
    }

    private struct Recipient {
        let progress: (@Sendable (TransferProgress) -> Void)?
        /// `nil` once a reader has the stream.
        var observer: Single<APIResponse>.SingleObserver?
    }

    private struct State {
        /// With its cookies, once it has begun.
        var request: URLRequest
        var stack = Stack.waiting
        /// Nothing more is taken, because all of it has come, it has failed, or nobody wants it.
        var isOver = false
        /// Who gets the event, until it is sent or a dispose forbids it.
        var recipient: Recipient?
        /// Where the body goes; without a file and a stream, into memory.
        var file: PartialFile?
        var stream: StreamBuffer?
        /// When the exchange fails, unless something happens before.
        var deadline: UInt64
        /// Whether the reader of the stream is behind, so that silence does not count.
        var isPaused = false
        var response: HTTPURLResponse?
        var data = Data()
        var transferred = TransferProgress()
        var clock = TransferClock()

        mutating func end() { (isOver, deadline) = (true, .max) }

        /// Returns what the network stack was doing.
        mutating func stop() -> Stack {
            defer {
                end()
                switch stack {
                case .waiting: stack = .done
                case .starting, .running: stack = .stopped
                case .stopped, .done: break
                }
            }
            return stack
        }
    }

    /// What to send, as it stands: with its cookies, and the headers of the transport. Do not follow redirects.
    ///
    /// A body of files is in `httpBodyStream`. Each time you ask for the request, that starts at the beginning.
    public var request: URLRequest { state.withLock(\.request).withUnreadBody }

    /// The number of bytes of the body, 0 without one. Send it to the server as the Content-Length.
    public var bodyLength: Int64 { original.bodyLength }

    /// What the host of the request is known by; `nil` if the request does not wait for a connection. A stream may take for ever: it has a
    /// connection beside those that others wait for.
    let host: String?

    private let original: URLRequest
    private let transport: ExchangeTransport
    private let destination: BodyDestination
    private let isReporting: Bool
    /// Whether the body of an accepted response is read while it comes. Then ask ``whenReady(_:)`` before you read on.
    public let isStreamed: Bool
    private let silence: UInt64
    private let end: UInt64
    private let state: Locked<State>

    init(
        _ request: URLRequest, to destination: BodyDestination, by transport: ExchangeTransport,
        progress: (@Sendable (TransferProgress) -> Void)?,
        observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        (original, self.transport, self.destination, isReporting) = (request, transport, destination, progress != nil)
        if case .stream = destination { isStreamed = true } else { isStreamed = false }
        host = transport.settings.connectionsPerHost == nil || isStreamed ? nil : request.url?.origin ?? ""
        let limits = transport.queue?.limits(of: request) ?? (.max, .max)
        (silence, end) = (limits.silence, isStreamed ? .max : limits.end)
        state = Locked(State(request: request, recipient: Recipient(progress: progress, observer: observer), deadline: end))
    }

    /// When the exchange fails, unless something happens before, by the clock of the queue.
    var deadline: UInt64 { state.withLock(\.deadline) }

    /// Begins as soon as it is the exchange's turn.
    func enterQueue() {
        if let queue = transport.queue { queue.enter(self) } else { begin() }
    }

    /// Lets the network stack send the request, unless that has been done, or it is too late.
    func begin() {
        let isInTime = state.withLock { state in
            guard case .waiting = state.stack else { return false }
            state.stack = .starting
            state.clock.metrics.waiting = state.clock.lap()
            return true
        }
        guard isInTime else { return }
        // Those that have come while it waited are sent, too.
        if let request = transport.cookies?.added(to: original) { state.withLock { $0.request = request } }
        let sending = transport.start(self)
        let isStopped = state.withLock { state in
            guard case .starting = state.stack else { return true }
            state.stack = .running(sending)
            return false
        }
        if isStopped { sending.dispose() }
    }

    /// Tells that `count` bytes of the request's body have been sent in all, of `total`, which is `nil` while nobody knows it.
    ///
    /// This is a sign that the request waits no longer, also with 0 bytes.
    public func sent(_ count: Int64, of total: Int64?) {
        live()
        report { transferred in
            transferred.bytesSent = count
            transferred.bytesToSend = total.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    /// Takes the head of the response. Returns false when its body cannot be taken: then stop the transfer, and complete the exchange.
    ///
    /// - Parameters:
    ///   - response: The head of the response. Not one with a status below 200.
    ///   - sharesConnection: Whether other requests may use the same connection at the same time, as by HTTP/2.
    public func receive(_ response: HTTPURLResponse, sharesConnection: Bool = false) -> Bool {
        transport.queue?.learn(self, isShared: sharesConnection)
        guard live() else { return false }
        transport.cookies?.keep(response, to: original)
        state.withLock { state in
            guard !state.isOver else { return }
            state.response = response
            state.clock.metrics.firstByte = state.clock.lap()
            if isReporting { state.transferred.bytesToReceive = response.bodyLength }
        }
        return take {
            if response.hasContradictoryLengths { throw URLError(.cannotParseResponse) }
            guard response.isAccepted else { return }
            switch destination {
            case .memory: break
            case .file(let url): try open(url)
            case .stream: hand(response)
            }
        }
    }

    private func open(_ destination: URL) throws {
        // The head of a response may come again: that of `multipart/x-mixed-replace` does.
        guard state.withLock({ $0.file == nil }) else { return }
        let file = try PartialFile(beside: destination)
        let isWanted = state.withLock { state in
            if !state.isOver { state.file = file }
            return !state.isOver
        }
        if !isWanted { file.remove() }
    }

    /// The subscriber gets the response now, and its reader ends the exchange.
    private func hand(_ response: HTTPURLResponse) {
        let stream = StreamBuffer(transfer: Disposables.create { self.cancel() })
        let (observer, metrics) = state.withLock { state -> (Single<APIResponse>.SingleObserver?, TransferMetrics) in
            guard !state.isOver, let observer = state.recipient?.observer.take() else { return (nil, state.clock.metrics) }
            state.stream = stream
            return (observer, state.clock.metrics)
        }
        guard let observer else { return }
        let response = APIResponse(request: original, response: response, stream: stream).measured(metrics)
        Self.events.async { observer(.success(response)) }
    }

    /// Takes bytes of the response's body, decoded as its Content-Encoding says. Returns false when they cannot be taken, because they are
    /// too many or the disk is full: then stop the transfer, and complete the exchange.
    public func receive(_ chunk: Data) -> Bool {
        guard live() else { return false }
        if isStreamed, let stream = state.withLock(\.stream) {
            stream.append(chunk)
            if stream.isFull { pauseSilence(until: stream) }
            report { $0.bytesReceived += Int64(chunk.count) }
            return true
        }
        let isTaken = take {
            let file = try state.withLock { state -> PartialFile? in
                state.transferred.bytesReceived += Int64(chunk.count)
                if let maximum = transport.settings.maximumResponseSize, state.transferred.bytesReceived > maximum {
                    throw URLError.passed(maximum)
                }
                if state.file == nil, !state.isOver { state.data.append(chunk) }
                return state.file
            }
            try file?.append(chunk)
        }
        if isTaken { report() }
        return isTaken
    }

    /// While the reader is behind, nobody can tell whether the server is silent.
    private func pauseSilence(until stream: StreamBuffer) {
        guard transport.queue != nil else { return }
        let isFirst = state.withLock { state in
            defer { (state.isPaused, state.deadline) = (true, .max) }
            return !state.isPaused
        }
        guard isFirst else { return }
        stream.whenReady { [weak self] in
            self?.state.withLock { $0.isPaused = false }
            self?.live()
        }
    }

    /// Whether the reader of the stream is behind, so that ``whenReady(_:)`` would wait.
    var isReaderBehind: Bool { isStreamed && state.withLock(\.stream)?.isFull == true }

    /// Calls `proceed` when the next bytes can be taken: at once or, if the reader of a stream is behind, when it has read what waits or has left.
    ///
    /// Read no more from the server before. What you hand over nevertheless is kept in memory. `proceed` is called once, on any thread.
    public func whenReady(_ proceed: @escaping @Sendable () -> Void) {
        guard isStreamed, let stream = state.withLock(\.stream) else { return proceed() }
        stream.whenReady(proceed)
    }

    /// Calls `body` when the reader of the stream has taken all that has come and asks for more, or has left. Without a stream, at once.
    package func whenRead(_ body: @escaping @Sendable () -> Void) {
        guard isStreamed, let stream = state.withLock(\.stream) else { return body() }
        stream.whenRead(body)
    }

    /// Ends the exchange: with the response when the whole of it has come, or else with `error`.
    ///
    /// A `URLError` is best. To replace the sentence for its code in ``APIError/description``, set its `NSLocalizedFailureReasonErrorKey`. If
    /// a proxy has failed, set its `NSURLErrorFailingURLErrorKey` to the proxy's URL, so that the sentence names the proxy.
    ///
    /// Call it always, also after a dispose: it frees the connection for the next request to the same host. Only the first call counts.
    public func complete(with error: (any Error)? = nil) {
        let (isFirst, wasOver) = state.withLock { state in
            if case .done = state.stack { return (false, true) }
            defer { state.end() }
            state.stack = .done
            if !state.isOver { state.clock.metrics.body = state.clock.lap() }
            return (true, state.isOver)
        }
        if !wasOver { deliver(error) }
        if isFirst { transport.queue?.leave(self) }
    }

    /// Cancels the exchange: no event comes from now on, no progress but what another thread is telling at this moment, and nothing is left
    /// behind. The connection is free when the network stack has completed the exchange.
    func cancel() {
        let (old, stack) = state.withLock { state in
            let old = state
            (state.recipient, state.file, state.stream, state.data) = (nil, nil, nil, Data())
            return (old, state.stop())
        }
        old.file?.remove()
        switch stack {
        case .waiting: transport.queue?.leave(self)
        case .starting: transport.queue?.stopWatching(self)
        case .running(let sending):
            transport.queue?.stopWatching(self)
            sending.dispose()
        case .stopped, .done: break
        }
    }

    /// Nobody waits for the response any more. A reader goes on with its stream.
    func subscriberLeft() {
        let hasReader = isStreamed && state.withLock { $0.recipient != nil && $0.recipient?.observer == nil }
        if !hasReader { cancel() }
    }

    /// The time is over.
    func expire() { fail(with: URLError(.timedOut)) }

    /// Ends the exchange before the network stack does, which may take long to deliver what it has already received.
    private func fail(with error: any Error) {
        let (wasOver, wasWaiting) = state.withLock { state in
            defer { state.end() }
            guard case .waiting = state.stack else { return (state.isOver, false) }
            state.stack = .done
            return (state.isOver, true)
        }
        if wasWaiting { transport.queue?.leave(self) }
        if !wasOver { deliver(error) }
    }

    /// Bytes have come or gone: silence counts from `now` on. Returns when it ends the exchange.
    func live(at now: UInt64) -> UInt64 {
        state.withLock { state in
            if !state.isOver, !state.isPaused { state.deadline = min(now + silence, end) }
            return state.deadline
        }
    }

    /// Bytes have come or gone. Returns false if nothing more is taken.
    @discardableResult
    private func live() -> Bool {
        guard let queue = transport.queue else { return !state.withLock(\.isOver) }
        let now = queue.now
        let (wasWaiting, isOver) = state.withLock { state in
            defer { if !state.isOver, !state.isPaused { state.deadline = min(now + silence, end) } }
            return (state.deadline == end && !state.isPaused, state.isOver)
        }
        if wasWaiting, !isOver { queue.watch(until: deadline) }
        return !isOver
    }

    private func take(_ step: () throws -> Void) -> Bool {
        do {
            try step()
            return true
        } catch {
            state.withLock { $0.data = Data() }
            fail(with: error)
            return false
        }
    }

    private func report(_ change: (inout TransferProgress) -> Void = { _ in }) {
        guard isReporting else { return }
        let (progress, transferred) = state.withLock { state in
            change(&state.transferred)
            state.transferred.dropExceededTotals()
            return (state.isOver ? nil : state.recipient?.progress, state.transferred)
        }
        progress?(transferred)
    }

    /// Sends the event, unless a dispose comes first.
    private func deliver(_ failure: (any Error)?) {
        if let stream = state.withLock({ $0.stream.take() }) {
            stream.finish(failure.map { APIError.transport(original, underlying: $0) })
            return cancel()
        }
        Self.events.async { [self] in
            var failure = failure
            if failure == nil, let file = state.withLock(\.file) {
                // This may take long, and is not done under the lock.
                do { try file.synchronize() } catch { failure = error }
            }
            // A file is moved under the lock, so that a `cancel` that has returned leaves the whole of it or nothing.
            let last = state.withLock { state in
                state.recipient.take().map { (observer: $0.observer, event: event(failure, &state)) }
            }
            if let last { last.observer?(last.event) }
        }
    }

    private func event(_ failure: (any Error)?, _ state: inout State) -> SingleEvent<APIResponse> {
        let file = state.file.take()
        do {
            if let failure { throw failure }
            guard let response = state.response else { throw URLError(.badServerResponse) }
            try file?.moveToDestination()
            let whole = APIResponse(request: original, response: response, data: state.data)
            return .success(whole.measured(state.clock.metrics))
        } catch {
            file?.remove()
            let urlError = state.response == nil ? (error as? URLError)?.explained(for: original) : nil
            return .failure(APIError.transport(original, underlying: urlError ?? error))
        }
    }
}

extension TransferProgress {
    /// A total that is exceeded was wrong.
    fileprivate mutating func dropExceededTotals() {
        if let total = bytesToSend, total < bytesSent { bytesToSend = nil }
        if let total = bytesToReceive, total < bytesReceived { bytesToReceive = nil }
    }
}

#if !canImport(FoundationNetworking)
extension Exchange {
    /// Takes what the session has measured. Call it before ``complete(with:)``.
    func collect(_ metrics: URLSessionTaskMetrics) { state.withLock { $0.clock.metrics.taskMetrics = metrics } }
}
#endif

extension Exchange: CustomStringConvertible, CustomReflectable {
    /// `GET https://api.example.com/search?q=…`. See ``Redaction``.
    public var description: String { Redactor(for: request).line(of: request) }

    /// A mirror with the description only, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
