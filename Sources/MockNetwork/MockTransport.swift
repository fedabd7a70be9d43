public import APIProvider
public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers requests from the stubs of a scope without a `URLSession`: in a fraction of the time, and otherwise as `MockURLProtocol` does.
///
/// ```swift
/// MockURLProtocol.stub(.get, "/user", respond: .fixture(Fixture.user))
/// let provider = DefaultAPIProvider(transport: MockTransport())
/// ```
///
/// Delays, redirects, chunks and errors come as they do by `URLSessionTransport`, on a background queue.
public struct MockTransport: Transport {
    private static let events = DispatchQueue(label: "MockNetwork.events", attributes: .concurrent)

    /// `nil` is the process-wide mock. A scope is known by its class, so that its end shows.
    private let mock: MockURLProtocol.Type

    /// A transport that the scope answers which is the current one now.
    public init() { mock = MockURLProtocol.current }

    /// Answers `request` and follows redirects. Disposing ends a delay.
    ///
    /// - Parameters:
    ///   - request: What is recorded and answered.
    ///   - progress: Called on a background queue, one call at a time: once for the body that is sent, and for each chunk that comes.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        .following(request) { request in
            Single.deferred {
                try request.check()
                return reply(to: request)
            }
            .map { reply in try reply.response(to: request, progress) }
        }
    }

    private func reply(to request: URLRequest) -> Single<Reply> {
        .create { [mock] observer in
            let ending = SerialDisposable()
            Self.events.async {
                guard !ending.isDisposed else { return }
                guard let scope = mock.scopeOfSession else {
                    return observer(.success(Reply(.failed(MockFailure(endedScopeOf: RecordedRequest(request))))))
                }
                let reply =
                    switch scope.receive(request) {
                    case .reply(let reply): reply
                    case .handler(let handler): handler()
                    }
                guard reply.delay > 0 else { return observer(.success(reply)) }
                ending.disposable = Reply.scheduler.schedule(after: reply.interval) { observer(.success(reply)) }
            }
            return ending
        }
        .flatMap { reply in
            if case .never = reply.end { .never() } else { .just(reply) }
        }
    }
}

extension Reply {
    fileprivate func response(to request: URLRequest, _ progress: (@Sendable (TransferProgress) -> Void)?) throws -> APIResponse {
        if let progress { report(request, to: progress) }
        if case .failed(let error) = end { throw APIError.transport(request, underlying: error) }
        guard let head else { throw APIError.transport(request, underlying: URLError(.badServerResponse)) }
        return APIResponse(request: request, response: head, data: body)
    }

    private func report(_ request: URLRequest, to progress: @Sendable (TransferProgress) -> Void) {
        var transferred = TransferProgress()
        if let count = request.httpBody?.count, count > 0 {
            (transferred.bytesSent, transferred.bytesToSend) = (Int64(count), Int64(count))
            progress(transferred)
        }
        for chunk in chunks() {
            transferred.bytesReceived += Int64(chunk.count)
            transferred.bytesToReceive = head.map(\.expectedContentLength).flatMap { $0 > 0 ? $0 : nil }
            progress(transferred)
        }
    }
}
