import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import Testing

@testable import GitHubSearch

@Suite(.mockNetwork) struct RecordedTests {
    @Test func findsWhatGitHubFound() async throws {
        let file = try #require(
            Bundle.module.url(forResource: "search", withExtension: "har"))
        try MockURLProtocol.replay(har: file)
        let provider = DefaultAPIProvider(
            baseURL: GitHub.url, configuration: MockURLProtocol.configuration)

        let response = try await provider.request(SearchRequest(keyword: "swift")).value

        #expect(response.items.first?.name == "swift")
    }
}
