import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct SupportMiddleware: Middleware {
    struct Maintenance: Error, Equatable {
        let requestID: String
    }

    var makeID: @Sendable () -> String = { UUID().uuidString }

    func intercept(_ request: URLRequest, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>) -> Single<APIResponse> {
        .deferred {
            var request = request
            let id = makeID()
            request.setValue(id, forHTTPHeaderField: "X-Request-ID")
            return next(request).map { response in
                guard response.value(forHTTPHeaderField: "X-Maintenance") == nil else { throw Maintenance(requestID: id) }
                return response
            }
        }
    }
}

@Suite("Writing a middleware")
struct WritingAMiddlewareTests {
    private typealias ItemsRequest = ProbeRequest<Empty>

    @Test("The article's example does what it says")
    func example() async throws {
        let transport = AnyTransport { request in
            guard let url = request.url, request.value(forHTTPHeaderField: "X-Request-ID") == "1",
                let response = HTTPURLResponse(url: url, statusCode: 503, httpVersion: nil, headerFields: ["X-Maintenance": "till noon"])
            else { return .error(URLError(.badURL)) }
            return .just(APIResponse(request: request, response: response, data: Data()))
        }
        let provider = DefaultAPIProvider(transport: transport, middlewares: [SupportMiddleware(makeID: { "1" })])
        await #expect(throws: SupportMiddleware.Maintenance(requestID: "1")) { try await provider.request(ItemsRequest()).value }
    }

    @Test("The article's retry waits for no clock")
    func retry() {
        let scheduler = TestScheduler()
        let transport = AnyTransport { _ in .error(URLError(.timedOut)) }
        let provider = DefaultAPIProvider(transport: transport, middlewares: [RetryMiddleware(maxAttempts: 3, scheduler: scheduler)])
        let ended = DispatchSemaphore(value: 0)
        let subscription = provider.request(ItemsRequest()).subscribe(onFailure: { _ in ended.signal() })
        scheduler.run()
        #expect(ended.wait(timeout: .now()) == .success)
        subscription.dispose()
    }

    @Test("In front of a retry a request keeps its id, behind it each attempt has one, and each subscription has its own")
    func order() async throws {
        let retry = RetryMiddleware(baseDelay: .nanoseconds(0))
        for (middlewares, isKept) in [([SupportMiddleware(), retry], true), ([retry, SupportMiddleware()], false)]
            as [([any Middleware], Bool)]
        {
            let answers = Answers(.status(503), .status(200))
            let single = DefaultAPIProvider(transport: AnyTransport(answers.next), middlewares: middlewares).request(ItemsRequest())
            _ = try await single.value
            _ = try await single.value
            let ids = answers.requests.map { $0.value(forHTTPHeaderField: "X-Request-ID") }
            #expect((ids[0] == ids[1]) == isKept)
            #expect(ids[1] != ids[2])
        }
    }

    @Test("The article's code is the code of this file")
    func article() throws {
        let article = try PackageFile("Sources/APIProvider/APIProvider.docc/WritingAMiddleware.md")
        let blocks = article.swiftBlocks.filter { $0.contains("\n    ") }
        let tests = try PackageFile("Tests/APIProviderTests/WritingAMiddlewareTests.swift")
        #expect(blocks.count == 2)
        for block in blocks { #expect(tests.contains(code: block), "\(block)") }
    }
}
