import APIProviderTesting
import Foundation
import Testing

@testable import GitHubSearch

@Suite(.mockNetwork) struct RetryTests {
    @Test func asksABusyServerAgain() async throws {
        MockURLProtocol.stub(
            SearchRequest(keyword: "swift"),
            respond: .sequence([.status(503), .fixture(Fixture.search)]))
        let provider = DefaultAPIProvider(
            baseURL: GitHub.url, configuration: MockURLProtocol.configuration,
            middlewares: [RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1)))])

        let response = try await provider.request(SearchRequest(keyword: "swift")).value

        #expect(response.items.count == 2)
    }

    @Test func waitsAsLongAsTheServerSays() throws {
        let time = TestScheduler()
        MockURLProtocol.stub(
            SearchRequest(keyword: "swift"),
            respond: .sequence([
                .status(429, headers: ["Retry-After": "20"]), .fixture(Fixture.search),
            ]))
        let provider = DefaultAPIProvider(
            baseURL: GitHub.url, transport: MockTransport(scheduler: time),
            middlewares: [RetryMiddleware(scheduler: time)])

        let subscription = provider.request(SearchRequest(keyword: "swift")).subscribe()
        time.advance(by: .seconds(19))
        #expect(MockURLProtocol.requests.count == 1)
        // At most half a second more, so that clients do not come back together.
        time.advance(by: .milliseconds(1500))
        #expect(MockURLProtocol.requests.count == 2)
        subscription.dispose()
    }
}
