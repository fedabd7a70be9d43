import APIProviderTesting
import Testing

@testable import GitHubSearch

@Suite(.mockNetwork) @MainActor struct SearchModelTests {
    @Test func showsWhatWasFound() {
        MockURLProtocol.stub(
            SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
        let model = SearchModel(
            provider: DefaultAPIProvider(baseURL: GitHub.url, transport: MockTransport()))

        model.search(for: "swift")

        #expect(model.repositories.map(\.name) == ["swift", "swift-nio"])
        #expect(!model.isLoading)
    }
}
