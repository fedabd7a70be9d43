public import Foundation
import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request in flight. An ``ExchangeTransport``'s closure sends ``request``, and reports the response to the exchange.
///
/// You may call an exchange on any thread, one call at a time. After a dispose, heads and bytes are refused, unless a stream was delivered.
/// Always end with ``complete(with:)``, even after a dispose. Later calls do nothing.
@_spi(Transports) public final class Exchange: Sendable {
    /// The request to send, complete with cookies and the transport's headers. Send the request unchanged, with the body's `count` as the
    /// `Content-Length`, and do not follow redirects.
    public var request: PreparedRequest {
        var request = original
        if transport.handlesCookies, let cookie = state.withLock({ $0.cookie }) { request.headers["Cookie"] = cookie }
        return request
    }

    /// The request for errors and the response, which hide the cookies, too.
    private var answered: PreparedRequest {
        var request = original
        if let cookie = state.withLock({ $0.cookie }) { request.addedCookie = cookie }
        return request
    }

    /// The number of bytes in the request's body.
    var bodyCount: Int64 { Int64(original.body?.count ?? 0) }

    /// Whether a successful response's body is streamed. Then call ``onWritable(_:)`` before you read on.
    public var streamsResponse: Bool { original.bodyDestination.isStream }

    private let original: PreparedRequest
    private let transport: ExchangeTransport
    private let observer: Single<APIResponse>.SingleObserver
    /// `nil` without a limiter, and for a stream: it may never end, so it does not count against the origin's limit.
    private let permit: RequestLimiter.Permit?
    private let state: Locked<ExchangeState>

    init(
        _ request: PreparedRequest, by transport: ExchangeTransport, observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        (original, self.transport, self.observer) = (request, transport, observer)
        permit = request.bodyDestination.isStream ? nil : transport.limiter?.permit(for: request.url.origin)
        let now = transport.timeoutMonitor?.now ?? 0
        state = Locked(ExchangeState(request, transport.settings, createdAt: now))
    }

    /// The transport's clock for timeouts.
    private var now: UInt64 { transport.timeoutMonitor?.now ?? 0 }

    // MARK: - Beginning

    /// Begins when the limiter allows.
    func start() {
        guard let permit else { return begin() }
        permit.acquire { self.begin() }
        if state.withLock(\.isWaiting) { transport.timeoutMonitor?.watch(self) }
    }

    /// Lets the network stack send the request, unless it is too late.
    private func begin() {
        let now = now
        guard state.withLock({ $0.begin(at: now) }) else { return }
        // Cookies that arrived during the wait are sent, too.
        let cookie = transport.cookies?.header(for: original)
        if let cookie { state.withLock { $0.cookie = cookie } }
        let transfer = transport.start(self)
        let (isStarted, deadline) = state.withLock { ($0.didStart(transfer), $0.deadline) }
        if !isStarted { transfer.dispose() }
        // An already ended exchange, as with a mock, needs no timer.
        if deadline != nil { transport.timeoutMonitor?.watch(self) }
    }

    // MARK: - The network stack's reports

    /// Reports `count` sent bytes of the request's body so far, of `total`, or `nil` for an unknown total.
    ///
    /// Each report counts as activity, even with 0 bytes.
    public func didSend(_ count: Int64, of total: Int64?) {
        let now = now
        state.withLock { $0.didSend(count, of: total, at: now) }
        reportProgress()
    }

    /// Reports a sent body in steps of 64 KB, like a network stack.
    package func didSendBody() {
        guard bodyCount > 0 else { return }
        guard original.reportProgress != nil else { return didSend(bodyCount, of: bodyCount) }
        for count in stride(from: 65_536, to: bodyCount, by: 65_536) { didSend(count, of: bodyCount) }
        didSend(bodyCount, of: bodyCount)
    }

    /// Accepts the response's head.
    ///
    /// - Parameter response: The response's head, with a status of 200 or more.
    /// - Returns: `false` if the exchange accepts no body: then stop the transfer, and complete the exchange.
    public func receive(_ response: HTTPURLResponse) -> Bool {
        let now = now
        // The body of an error is not what the progress is for.
        let reportsBody = original.reportProgress != nil && response.isSuccessful
        guard let isInMemory = state.withLock({ $0.receive(response, reportsBody: reportsBody, at: now) }) else { return false }
        if transport.handlesCookies { transport.cookies?.storeCookies(of: response, to: original) }
        do {
            if response.hasInvalidLength { throw URLError(.cannotParseResponse) }
            guard isInMemory else { return true }
            let destination = original.bodyDestination
            // An earlier attempt's file does not belong to this response.
            destination.download?.hasFile = false
            guard response.isSuccessful else { return true }
            switch destination {
            case .memory: return true
            case .file(let url, _, let folder):
                let range = original.headers["Range"]
                // Another part than the missing one is not worth waiting for, and is refused at the head.
                let kept = try folder?.file(for: response, isRest: range != nil)
                // The rest alone is never the file.
                guard kept != nil || response.isContent(range: folder == nil ? range : nil) else { return true }
                let file = try kept ?? PartialFile(beside: url)
                guard state.withLock({ $0.replaceSink(with: .file(file)) }) != nil else { return false }
                if kept != nil { reportProgress() }
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

    /// Accepts part of the response's body.
    ///
    /// - Parameter chunk: The next bytes, decoded by the `Content-Encoding`.
    /// - Returns: `false` if the exchange cannot accept the bytes, as beyond a limit or with a full disk: then stop the transfer, and
    ///   complete the exchange.
    public func receive(_ chunk: Data) -> Bool {
        // A body in place of a stream, such as a JSON log, may have no end. So the bytes are limited, and do not count as activity.
        let replacesStream = streamsResponse && state.withLock(\.expectedStreamType) != nil
        let now = now
        var limits = transport.settings.maxSizes
        if replacesStream { limits.inMemory = min(limits.inMemory ?? .max, original.options.maxElementSize) }
        do {
            // A disk may be slow, and a reader runs other code, so neither is called under the lock.
            switch try state.withLock({ try $0.receive(chunk, limits: limits, at: replacesStream ? nil : now) }) {
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

    /// Ends the exchange: with the whole response, or with `error`.
    ///
    /// A `URLError` is best. For your own reason in ``APIError/description``, set the error's `NSLocalizedFailureReasonErrorKey`. If a
    /// proxy failed, set the `NSURLErrorFailingURLErrorKey` to the proxy's URL, so that the description names the proxy. An
    /// ``APIError/invalidRequest(reason:underlying:)``, as thrown by ``RequestBody/data()``, is delivered unchanged.
    ///
    /// Always call this method, even after a dispose: the next request to the same origin may be waiting. Only the first call counts.
    public func complete(with error: (any Error)? = nil) {
        let error = (error as? URLError)?.removingURL(of: original) ?? error
        perform(state.withLock { $0.complete(error) }.ending)
        permit?.release()
    }

    // MARK: - Ending

    /// When the exchange times out without activity; `nil` for an ended exchange.
    var deadline: UInt64? { state.withLock(\.deadline) }

    /// Fails the exchange if the time is over. The single disposes itself after the event, which stops the network stack. Returns false if
    /// the exchange continues.
    func timeOut(at now: UInt64) -> Bool {
        let (isOver, wasWaiting, ending) = state.withLock { state -> (Bool, Bool, ExchangeState.Ending?) in
            if let deadline = state.deadline, deadline > now { return (false, false, nil) }
            return (true, state.isWaiting, state.end(URLError(.timedOut)))
        }
        perform(ending)
        if wasWaiting { permit?.release() }
        return isOver
    }

    /// The subscriber disposed the single. A delivered stream continues.
    func subscriberDidLeave() {
        if state.withLock({ !$0.isOver && (!streamsResponse || $0.stream == nil) }) { cancel() }
    }

    /// Cancels the exchange. No event follows. A progress report already running on another thread may finish. The exchange counts against
    /// the origin's limit until the network stack completes it.
    private func cancel() {
        let (phase, transfer) = state.withLock { $0.cancel() }
        transport.timeoutMonitor?.stopWatching(self)
        if case .waiting = phase { permit?.release() }
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
    /// Delivers the event, unless already ended.
    private func perform(_ ending: ExchangeState.Ending?) {
        guard let ending else { return }
        transport.timeoutMonitor?.stopWatching(self)
        switch ending {
        case .success(let response, let sink, let metrics):
            transport.deliver { [self] in
                deliver(sink.file) { APIResponse(answered, response, sink.data, metrics: metrics, file: sink.file) }
            }
        case .failure(let error, let sink):
            transport.deliver { [self] in
                let urlError = sink == nil ? (error as? URLError)?.addingSizeHint(for: original) : nil
                deliver(nil) { throw urlError ?? error }
            }
        case .endOfStream(let stream, let error):
            stream.finish(error.map { APIError.transport(answered, underlying: $0) })
            cancel()
        }
    }

    /// Closes the file, and delivers the response. If `makeResponse` or the file throws, delivers that error.
    private func deliver(_ file: PartialFile?, _ makeResponse: () throws -> APIResponse) {
        do {
            if let file {
                // Not under the lock, because this may take long.
                try file.finish()
                original.bodyDestination.download?.hasFile = true
            }
            if state.withLock({ $0.claimDelivery() }) { observer(.success(try makeResponse())) }
        } catch {
            // A body with an unreadable file was not sent: the request is invalid.
            let isInvalid = if case .invalidRequest? = error as? APIError { true } else { false }
            observer(.failure(isInvalid ? error : APIError.transport(answered, underlying: error)))
        }
    }

    // MARK: - Streams

    /// Delivers the response. The stream's reader then ends the exchange.
    private func deliverStream(_ response: HTTPURLResponse) -> Bool {
        let stream = StreamBuffer(transfer: Disposables.create { self.cancel() })
        guard let metrics = state.withLock({ $0.replaceSink(with: .stream(stream)) }) else { return false }
        let response = APIResponse(answered, response, Data(), stream: stream, metrics: metrics)
        transport.deliver { [observer] in observer(.success(response)) }
        return true
    }

    /// While the reader is behind, nobody knows whether the server is sending.
    private func pauseIdleTime(until stream: StreamBuffer) {
        guard state.withLock({ $0.pauseIdleTime() }) else { return }
        stream.onWritable { [self] in
            let now = now
            state.withLock { $0.resumeIdleTime(at: now) }
            transport.timeoutMonitor?.watch(self)
        }
    }

    /// Whether the exchange can accept the next bytes: false while a stream's reader is behind.
    var isWritable: Bool { !streamsResponse || state.withLock(\.stream)?.isWritable != false }

    /// Calls `proceed` when the exchange can accept the next bytes: at once or, if a stream's reader is behind, when most buffered bytes
    /// are read, the reader is released, or the task is cancelled.
    ///
    /// Do not read from the server until then. Bytes passed to ``receive(_:)-(Data)`` meanwhile are buffered in memory. `proceed` is called
    /// once, on any thread.
    public func onWritable(_ proceed: @escaping @Sendable () -> Void) {
        guard streamsResponse, let stream = state.withLock(\.stream) else { return proceed() }
        stream.onWritable(proceed)
    }

    /// Calls `body` when the stream's reader has read all arrived bytes and asks for more, or leaves. Without a stream, calls `body` at
    /// once.
    package func onDrained(_ body: @escaping @Sendable () -> Void) {
        guard streamsResponse, let stream = state.withLock(\.stream) else { return body() }
        stream.onDrained(body)
    }
}

#if !canImport(FoundationNetworking)
extension Exchange {
    /// Stores the session's metrics. Call this before ``complete(with:)``.
    func collect(_ metrics: URLSessionTaskMetrics) { state.withLock { $0.stopwatch.metrics.taskMetrics = metrics } }
}
#endif
