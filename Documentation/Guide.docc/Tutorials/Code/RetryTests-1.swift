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
}
