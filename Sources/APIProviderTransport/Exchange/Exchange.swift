public import Foundation
import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request in flight. The closure of an ``ExchangeTransport`` sends ``request``, and reports the response to the exchange.
///
/// Call it from any thread, one call at a time. After a dispose, it accepts no head and no bytes, unless it has delivered a stream. When
/// the transfer has ended, call ``complete(with:)``, also after a dispose. After that, calls do nothing.
@_spi(Transports) public final class Exchange: Sendable {
    /// The request to send, complete with cookies and the headers of the transport. Send it unchanged, with the `count` of its body as the
    /// `Content-Length`, and do not follow redirects.
    public var request: PreparedRequest {
        var request = original
        if let cookie = state.withLock({ $0.cookie }) { request.headers["Cookie"] = cookie }
        return request
    }

    /// The number of bytes in the body of the request.
    var bodyCount: Int64 { Int64(original.body?.count ?? 0) }

    /// Whether the body of a successful response is streamed. Then ask ``onWritable(_:)`` before you read on.
    public var streamsResponse: Bool { original.bodyDestination.isStream }

    private let original: PreparedRequest
    private let transport: ExchangeTransport
    private let observer: Single<APIResponse>.SingleObserver
    /// `nil` without a limiter, and for a stream, which may never end and so does not count against the limit of its origin.
    private let ticket: RequestLimiter.Ticket?
    private let state: Locked<ExchangeState>

    init(
        _ request: PreparedRequest, by transport: ExchangeTransport, observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        (original, self.transport, self.observer) = (request, transport, observer)
        ticket = request.bodyDestination.isStream ? nil : transport.limiter?.ticket(for: request.url.origin)
        let now = transport.timeoutMonitor?.now ?? 0
        state = Locked(ExchangeState(request, transport.settings, createdAt: now))
    }

    /// The time by which the transport measures timeouts.
    private var now: UInt64 { transport.timeoutMonitor?.now ?? 0 }

    // MARK: - Beginning

    /// Begins when it is the exchange's turn.
    func start() {
        guard let ticket else { return begin() }
        ticket.acquire { self.begin() }
        if state.withLock(\.isWaiting) { transport.timeoutMonitor?.watch(self) }
    }

    /// Lets the network stack send the request, unless it is too late.
    private func begin() {
        let now = now
        guard state.withLock({ $0.begin(at: now) }) else { return }
        // Cookies that have arrived while it waited are sent, too.
        if let cookie = transport.cookies?.header(for: original) { state.withLock { $0.cookie = cookie } }
        let transfer = transport.start(self)
        let (isStarted, deadline) = state.withLock { ($0.didStart(transfer), $0.deadline) }
        if !isStarted { transfer.dispose() }
        // An exchange that has ended by now, as with a mock, needs no timer.
        if deadline != nil { transport.timeoutMonitor?.watch(self) }
    }

    // MARK: - Reports of the network stack

    /// Reports that `count` bytes of the request's body have been sent so far, of `total`, which is `nil` while it is unknown.
    ///
    /// This counts as activity, even with 0 bytes.
    public func didSend(_ count: Int64, of total: Int64?) {
        let now = now
        state.withLock { $0.didSend(count, of: total, at: now) }
        reportProgress()
    }

    /// Reports that the body was sent, in steps of 64 KB, as a network stack reads it.
    package func didSendBody() {
        guard bodyCount > 0 else { return }
        guard original.reportProgress != nil else { return didSend(bodyCount, of: bodyCount) }
        for count in stride(from: 65_536, to: bodyCount, by: 65_536) { didSend(count, of: bodyCount) }
        didSend(bodyCount, of: bodyCount)
    }

    /// Accepts the head of the response.
    ///
    /// - Parameter response: The head of the response. Not one with a status below 200.
    /// - Returns: `false` if the exchange accepts no body: then stop the transfer, and complete the exchange.
    public func receive(_ response: HTTPURLResponse) -> Bool {
        let now = now
        let reportsBody = original.reportProgress != nil && !response.isRedirect
        guard let isInMemory = state.withLock({ $0.receive(response, reportsBody: reportsBody, at: now) }) else { return false }
        transport.cookies?.storeCookies(of: response, to: original)
        do {
            if response.hasInvalidLength { throw URLError(.cannotParseResponse) }
            guard isInMemory else { return true }
            let destination = original.bodyDestination
            // The file of an earlier attempt is not that of this response.
            destination.download?.take()
            guard response.isSuccessful else { return true }
            switch destination {
            case .memory: return true
            case .file(let url, _, let resumable):
                // Another part than the one that is missing has no end that is worth waiting for, so it is refused at its head.
                let isPart = resumable?.resumption?.eTag != nil && response.statusCode == 206
                guard isPart || response.isContent(range: original.headers["Range"]) else { return true }
                let file = try resumable ?? PartialFile(beside: url)
                let start = try resumable?.begin(response)
                guard state.withLock({ $0.replaceSink(with: .file(file), from: start) }) != nil else { return false }
                if start != nil { reportProgress() }
                return true
            case .stream(let type):
                guard let type, !response.mayHaveMediaType(type), response.isLikelyFinite(within: original.options.maxElementSize) else {
                    return deliverStream(response)
                }
                state.withLock { $0.expectedStreamType = type }
                return true
            }
        } catch {
            return fail(error)
        }
    }

    /// Accepts bytes of the response's body.
    ///
    /// - Parameter chunk: The next bytes, decoded as the `Content-Encoding` says.
    /// - Returns: `false` if the exchange cannot accept them, because they are too many or the disk is full: then stop the transfer, and
    ///   complete the exchange.
    public func receive(_ chunk: Data) -> Bool {
        // A body in place of a stream may have no end, as that of a JSON log. So its bytes are limited, and do not count as activity.
        let isInPlaceOfStream = streamsResponse && state.withLock(\.expectedStreamType) != nil
        let (now, maxSize) = (now, transport.settings.maxResponseSize)
        let limit = isInPlaceOfStream ? min(maxSize ?? .max, original.options.maxElementSize) : maxSize
        do {
            // A disk may be slow, and a reader runs other code, so neither is written to under the lock.
            switch try state.withLock({ try $0.receive(chunk, limit: limit, at: isInPlaceOfStream ? nil : now) }) {
            case nil: return false
            case .memory: break
            case .file(let file): try file.append(chunk)
            case .stream(let stream):
                stream.append(chunk)
                if !stream.isWritable { pauseIdleTime(until: stream) }
            }
            reportProgress()
            return true
        } catch {
            return fail(error)
        }
    }

    /// Ends the exchange: with the response when the whole of it has come, or else with `error`.
    ///
    /// A `URLError` is best. To replace what ``APIError/description`` says about its code, set its `NSLocalizedFailureReasonErrorKey`. If a
    /// proxy has failed, set its `NSURLErrorFailingURLErrorKey` to the proxy's URL, so that the description names the proxy.
    /// An ``APIError/invalidRequest(reason:underlying:)``, such as ``RequestBody/data()`` throws, is delivered as it is.
    ///
    /// Call it always, even after a dispose: it lets the next request to the same origin begin. Only the first call counts.
    public func complete(with error: (any Error)? = nil) {
        perform(state.withLock { $0.complete(error) }.ending)
        ticket?.release()
    }

    // MARK: - Ending

    /// The time at which the exchange times out if nothing happens; `nil` if it has ended.
    var deadline: UInt64? { state.withLock(\.deadline) }

    /// Fails the exchange if its time is over. The single disposes itself after its event, and that stops the network stack. Returns false
    /// if the exchange goes on.
    func timeOut(at now: UInt64) -> Bool {
        let (isOver, wasWaiting, ending) = state.withLock { state -> (Bool, Bool, ExchangeState.Ending?) in
            if let deadline = state.deadline, deadline > now { return (false, false, nil) }
            return (true, state.isWaiting, state.end(URLError(.timedOut)))
        }
        perform(ending)
        if wasWaiting { ticket?.release() }
        return isOver
    }

    /// The subscriber has disposed the single. A stream that it has received continues.
    func subscriberDidLeave() {
        if state.withLock({ !$0.isOver && (!streamsResponse || $0.stream == nil) }) { cancel() }
    }

    /// Cancels the exchange. No event follows. A progress report that already runs on another thread may finish. The exchange counts
    /// against the limit of its origin until the network stack has completed it.
    private func cancel() {
        let (phase, transfer) = state.withLock { $0.cancel() }
        transport.timeoutMonitor?.stopWatching(self)
        if case .waiting = phase { ticket?.release() }
        transfer?.dispose()
    }

    private func fail(_ error: any Error) -> Bool {
        perform(state.withLock { $0.end(error) })
        return false
    }

    private func reportProgress() {
        guard let report = original.reportProgress, let progress = state.withLock(\.reportedProgress) else { return }
        report(progress)
    }
}

// MARK: - Delivering

extension Exchange {
    /// Delivers the event, unless the exchange has already ended.
    private func perform(_ ending: ExchangeState.Ending?) {
        guard let ending else { return }
        transport.timeoutMonitor?.stopWatching(self)
        switch ending {
        case .success(let response, let sink, let metrics):
            transport.executor.execute { [self] in
                deliver(sink.file) { APIResponse(original, response, sink.data, metrics: metrics, file: sink.file) }
            }
        case .failure(let error, let sink):
            transport.executor.execute { [self] in
                let urlError = sink == nil ? (error as? URLError)?.addingSizeHint(for: original) : nil
                deliver(nil) { throw urlError ?? error }
            }
        case .endOfStream(let stream, let error):
            stream.finish(error.map { APIError.transport(original, underlying: $0) })
            cancel()
        }
    }

    /// Closes the file, and delivers the response. If `makeResponse` or the file throws, delivers that error.
    private func deliver(_ file: PartialFile?, _ makeResponse: () throws -> APIResponse) {
        do {
            if let file {
                // This may take long, so it is not done under the lock.
                try file.finish()
                original.bodyDestination.download?.receive(file)
            }
            if state.withLock({ $0.claimDelivery() }) { observer(.success(try makeResponse())) }
        } catch {
            // A body whose file has become unreadable was not sent: the request is invalid.
            let isInvalid = if case .invalidRequest? = error as? APIError { true } else { false }
            observer(.failure(isInvalid ? error : APIError.transport(original, underlying: error)))
        }
    }

    // MARK: - Streams

    /// Gives the response to the subscriber. The reader of its stream then ends the exchange.
    private func deliverStream(_ response: HTTPURLResponse) -> Bool {
        let stream = StreamBuffer(transfer: Disposables.create { self.cancel() })
        guard let metrics = state.withLock({ $0.replaceSink(with: .stream(stream)) }) else { return false }
        let response = APIResponse(original, response, Data(), stream: stream, metrics: metrics)
        transport.executor.execute { [observer] in observer(.success(response)) }
        return true
    }

    /// While the reader is behind, it is unknown whether the server sends anything.
    private func pauseIdleTime(until stream: StreamBuffer) {
        guard state.withLock({ $0.pauseIdleTime() }) else { return }
        stream.onWritable { [self] in
            let now = now
            state.withLock { $0.resumeIdleTime(at: now) }
            transport.timeoutMonitor?.watch(self)
        }
    }

    /// Whether the exchange can accept the next bytes: false while the reader of a stream is behind.
    var isWritable: Bool { !streamsResponse || state.withLock(\.stream)?.isWritable != false }

    /// Calls `proceed` when the exchange can accept the next bytes. That is at once or, if the reader of a stream is behind, when it has
    /// read most of the buffered bytes, has been released, or its task is cancelled.
    ///
    /// Do not read from the server until then. Bytes that you pass to ``receive(_:)-(Data)`` in the meantime are buffered in memory.
    /// `proceed` is called once, on any thread.
    public func onWritable(_ proceed: @escaping @Sendable () -> Void) {
        guard streamsResponse, let stream = state.withLock(\.stream) else { return proceed() }
        stream.onWritable(proceed)
    }

    /// Calls `body` when the reader of the stream has read all bytes that have arrived and asks for more, or has left. Without a stream,
    /// calls it at once.
    package func onDrained(_ body: @escaping @Sendable () -> Void) {
        guard streamsResponse, let stream = state.withLock(\.stream) else { return body() }
        stream.onDrained(body)
    }
}

#if !canImport(FoundationNetworking)
extension Exchange {
    /// Stores the session's metrics. Call it before ``complete(with:)``.
    func collect(_ metrics: URLSessionTaskMetrics) { state.withLock { $0.stopwatch.metrics.taskMetrics = metrics } }
}
#endif
