public import APIProvider
public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers requests from the same stubs as ``MockURLProtocol``, without a `URLSession` and in a fraction of the time.
///
/// ```swift
/// MockURLProtocol.stub(UserRequest(), respond: .fixture(Fixture.user))
/// let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
/// ```
///
/// Redirects, chunks and errors behave as with `URLSessionTransport`. An answer without a delay comes at once, on the subscriber's thread,
/// before `subscribe` returns. Answers with a delay, and timeouts, come on the scheduler. With a `TestScheduler`, they come in virtual
/// time:
///
/// ```swift
/// let scheduler = TestScheduler()
/// let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport(scheduler: scheduler))
/// provider.request(UserRequest()).subscribe { log.append($0) }.disposed(by: bag)
/// scheduler.advance(by: .seconds(60))
/// ```
public struct MockTransport: Transport {
    /// The class of the scope, which also tells when the scope has ended.
    private let mock: MockURLProtocol.Type
    private let scheduler: any Scheduler

    /// Creates a transport that the current scope answers.
    ///
    /// - Parameter scheduler: Delivers answers with a delay, and timeouts. By default, a background queue.
    public init(scheduler: (any Scheduler)? = nil) {
        mock = MockURLProtocol.current
        self.scheduler = scheduler ?? Reply.scheduler
    }

    /// Answers `request` and follows redirects. Disposing ends a delay.
    ///
    /// - Parameters:
    ///   - request: The request to record and answer.
    ///   - progress: Called once for the body that is sent and once for each chunk that arrives, on the thread of the answer.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        .following(request) { request in
            do {
                try request.check()
                return exchange(try request.withBodyInMemory(), progress)
            } catch {
                return .error(error)
            }
        }
    }

    private func exchange(_ request: URLRequest, _ progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        .create { [mock, scheduler] observer in
            let ending = SerialDisposable()
            let reply = mock.reply(to: request).within(request.timeoutInterval)
            let end: @Sendable () -> Void = {
                if let progress { reply.report(request) { if !ending.isDisposed { progress($0) } } }
                observer(reply.response(to: request))
            }
            if reply.delay > 0 {
                ending.disposable = scheduler.schedule(after: reply.interval, end)
            } else {
                end()
            }
            return ending
        }
    }
}

extension MockURLProtocol {
    fileprivate static func reply(to request: URLRequest) -> Reply {
        guard let scope = scopeOfSession else { return Reply(.failed(MockFailure(endedScopeOf: RecordedRequest(request)))) }
        switch scope.receive(request) {
        case .reply(let reply): return reply
        case .handler(let handler): return handler()
        }
    }
}

extension Reply {
    func response(to request: URLRequest) -> SingleEvent<APIResponse> {
        switch (end, head) {
        case (.never, _): return .failure(APIError.transport(request, underlying: URLError(.timedOut)))
        case (.failed(let error), _): return .failure(APIError.transport(request, underlying: error))
        case (.finished, let head?): return .success(APIResponse(request: request, response: head, data: body))
        case (.finished, nil): return .failure(APIError.transport(request, underlying: URLError(.badServerResponse)))
        }
    }

    fileprivate func report(_ request: URLRequest, to progress: (TransferProgress) -> Void) {
        var transferred = TransferProgress()
        if let count = request.bodyLength, count > 0 {
            (transferred.bytesSent, transferred.bytesToSend) = (count, count)
            progress(transferred)
        }
        for chunk in chunks() {
            transferred.bytesReceived += Int64(chunk.count)
            transferred.bytesToReceive = head?.bodyLength.flatMap { $0 < transferred.bytesReceived ? nil : $0 }
            progress(transferred)
        }
    }
}
