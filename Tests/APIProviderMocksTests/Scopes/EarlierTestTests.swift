import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

#if os(Linux) && compiler(>=6.3)  // An exit test that captures a value. It has the scope of the process for itself, as an XCTest has.
@Suite("A request of an earlier XCTest", tenMinutes)
struct EarlierTestTests {
    @Test("A retry that comes after reset is told that its test has ended, and takes no answer", arguments: [true, false])
    func retry(usesSession: Bool) async {
        await #expect(processExitsWith: .success) { [usesSession = usesSession as Bool] in
            let scheduler = TestScheduler()
            let retry = RetryMiddleware(RetryPolicy(maxAttempts: 5), scheduler: scheduler)
            let transport: any Transport =
                usesSession ? URLSessionTransport(configuration: MockURLProtocol.configuration) : MockTransport()
            let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [retry])

            MockURLProtocol.stub(.get, "/a", respond: .status(503))
            let outcome = Log<String>()
            let request = provider.request(Endpoint<Data>(.get, "/a")).subscribe(
                onSuccess: { _ in outcome.append("success") }, onFailure: { outcome.append("\($0)") })
            try #require(await eventually { !MockURLProtocol.requests.isEmpty })

            MockURLProtocol.reset()
            MockURLProtocol.stub(.get, "/**", respond: .sequence([.status(200)]))
            try #require(
                await eventually {
                    scheduler.advance(by: .seconds(3600))
                    return outcome.count == 1
                })
            #expect(outcome.entries[0].contains("its test has ended"), "\(outcome.entries)")

            // The provider may be older than the test.
            _ = try await provider.request(Endpoint<Data>(.get, "/b")).value
            #expect(MockURLProtocol.requests.map(\.path) == ["/b"])
            try MockURLProtocol.verify()
            request.dispose()
        }
    }

    @Test("A handler that fails when its test has ended is no mistake of the next test")
    func lateHandler() async {
        await #expect(processExitsWith: .success) {
            let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let answer = StubResponse.handler { request in
                begun.signal()
                mayEnd.wait()
                return .json(try request.json([Int].self))
            }
            MockURLProtocol.stub(.get, "/a", respond: answer)
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            let request = Task.detached { try await provider.request(Endpoint<Data>(.get, "/a")).value }
            await Task.detached { begun.wait() }.value
            MockURLProtocol.reset()
            mayEnd.signal()
            await #expect(throws: APIError.self) { try await request.value }
            try MockURLProtocol.verify()
        }
    }

    @Test("A provider of a scope that has ended fails the XCTest that uses it, and no later one", arguments: [true, false])
    func endedScope(usesSession: Bool) async {
        await #expect(processExitsWith: .success) { [usesSession = usesSession as Bool] in
            let scheduler = TestScheduler()
            let retry = RetryMiddleware(RetryPolicy(maxAttempts: 5), scheduler: scheduler)
            let transport = MockURLProtocol.withScope("search") { () -> any Transport in
                usesSession ? URLSessionTransport(configuration: MockURLProtocol.configuration) : MockTransport()
            }
            let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [retry])
            _ = try? await provider.request(Endpoint<Data>(.get, "/a")).value
            let report = #expect(throws: MockFailure.self) { try MockURLProtocol.verify() }
            #expect("\(report as Any)".contains("This request's scope, \"search\", has ended."))
            MockURLProtocol.reset()
            try MockURLProtocol.verify()
        }
    }
}
#endif
