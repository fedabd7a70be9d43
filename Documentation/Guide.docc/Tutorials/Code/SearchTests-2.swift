import APIProviderTesting
import Testing

@testable import GitHubSearch

@Suite(.mockNetwork) struct SearchTests {
    @Test func findsRepositories() async throws {
        MockURLProtocol.responseWithDTO(type: Fixture.search)
        let provider = DefaultAPIProvider(
            baseURL: GitHub.url, configuration: MockURLProtocol.configuration)

        let response = try await provider.request(SearchRequest(keyword: "swift")).value

        #expect(response.items.map(\.name) == ["swift", "swift-nio"])
        let request = try #require(MockURLProtocol.requests.first)
        #expect(request.path == "/search/repositories")
        #expect(request.headers["Accept"] == "application/vnd.github+json")
    }
}
