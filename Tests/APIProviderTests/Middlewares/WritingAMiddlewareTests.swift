import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

struct SupportMiddleware: Middleware {
    struct Maintenance: Error, Equatable {
        let requestID: String
    }

    var makeID: @Sendable () -> String = { UUID().uuidString }

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .deferred {
            var request = request
            let id = makeID()
            request.headers["X-Request-ID"] = id
            return next(request).map { response in
                let notice = response.value(forHTTPHeaderField: "X-Maintenance")
                guard notice == nil else { throw Maintenance(requestID: id) }
                return response
            }
        }
    }
}

private func supported(_ api: URL) -> DefaultAPIProvider {
    let provider = DefaultAPIProvider(baseURL: api, middlewares: [SupportMiddleware(), RetryMiddleware(), LoggingMiddleware()])
    return provider
}

private enum IsTracedKey: RequestOptionKey { static let defaultValue = true }

extension RequestOptions {
    var isTraced: Bool {
        get { self[IsTracedKey.self] }
        set { self[IsTracedKey.self] = newValue }
    }
}

@Suite("Writing a middleware")
struct WritingAMiddlewareTests {
    private let items = Endpoint<Void>(.get, "/items")

    @Test("The article's example does what it says")
    func worked() async throws {
        let transport = ClosureTransport { request in
            guard request.headers["X-Request-ID"] == "1" else { return .error(URLError(.badURL)) }
            return .just(APIResponse(to: request, status: 503, headers: ["X-Maintenance": "till noon"]))
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [SupportMiddleware(makeID: { "1" })])
        await #expect(throws: SupportMiddleware.Maintenance(requestID: "1")) { try await provider.request(items).value }
    }

    @Test("An endpoint's option reaches the middlewares, and others see its default")
    func option() async throws {
        struct Seen: Middleware {
            let log: Log<Bool>
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                log.append(request.options.isTraced)
                return next(request)
            }
        }
        let log = Log<Bool>()
        let provider = Answers(.status(200)).provider(Seen(log: log))
        try await provider.request(items).value
        _ = try await provider.request(items.option(\.isTraced, false).withResponse()).value
        #expect(log.entries == [true, false])
    }

    @Test("The article's retry waits for no clock")
    func retry() {
        let scheduler = TestScheduler()
        let transport = ClosureTransport { _ in .error(URLError(.timedOut)) }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [RetryMiddleware(scheduler: scheduler)])
        let ended = DispatchSemaphore(value: 0)
        let subscription = provider.request(items).subscribe(onFailure: { _ in ended.signal() })
        scheduler.run()
        #expect(ended.wait(timeout: .now()) == .success)
        subscription.dispose()
    }

    @Test("A request keeps its ID before a retry, and each attempt has one after it", arguments: [true, false])
    func order(isBefore: Bool) async throws {
        let retry = RetryMiddleware(RetryPolicy(baseDelay: .nanoseconds(0)))
        let answers = Answers(.status(503), .status(200))
        let provider = isBefore ? answers.provider(SupportMiddleware(), retry) : answers.provider(retry, SupportMiddleware())
        let single = provider.request(items)
        for _ in 0..<2 { try await single.value }
        let ids = answers.requests.map { $0.headers["X-Request-ID"] }
        #expect((ids[0] == ids[1]) == isBefore)
        #expect(ids[1] != ids[2])
    }

    @Test("A middleware may create a request with its own progress handler")
    func progress() async throws {
        struct Replacing: Middleware {
            let log: Log<Int64>
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                var other = PreparedRequest(.get, request.url)
                other.reportProgress = { [log] in log.append($0.bytesReceived) }
                return next(other)
            }
        }
        let log = Log<Int64>()
        let transport = ClosureTransport { request in
            request.reportProgress?(TransferProgress(bytesReceived: 1))
            return .just(APIResponse(to: request))
        }
        _ = try await DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [Replacing(log: log)]).request(items).value
        #expect(log.entries == [1])
    }
}
