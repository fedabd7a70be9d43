import APIProviderRecordingTesting
import Foundation
import Testing

@testable import GitHubSearch

struct RecordedTests {
    @Test(.mockNetwork(recording: "search"))
    func findsWhatGitHubFound() async throws {
        let provider = DefaultAPIProvider(
            baseURL: GitHub.url, configuration: MockURLProtocol.configuration)

        let response = try await provider.request(SearchRequest(keyword: "swift")).value

        #expect(response.items.first?.name == "swift")
    }
}
