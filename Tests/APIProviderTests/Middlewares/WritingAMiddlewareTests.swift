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

    @Test("The article's retry takes no real time")
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
}
