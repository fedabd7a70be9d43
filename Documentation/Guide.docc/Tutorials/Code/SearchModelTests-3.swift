import APIProviderTesting
import Foundation
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

    @Test func saysThatThereIsNoNetwork() {
        MockURLProtocol.stub(
            SearchRequest(keyword: "swift"),
            respond: .failure(URLError(.notConnectedToInternet)))
        let model = SearchModel(
            provider: DefaultAPIProvider(baseURL: GitHub.url, transport: MockTransport()))

        model.search(for: "swift")

        #expect(model.message == "There is no network connection.")
    }

    @Test func aLateAnswerNeverReplacesANewerOne() {
        let time = TestScheduler()
        MockURLProtocol.stub(
            SearchRequest(keyword: "s"), respond: .status(500).delayed(by: .seconds(10)))
        MockURLProtocol.stub(
            SearchRequest(keyword: "swift"),
            respond: .fixture(Fixture.search).delayed(by: .seconds(1)))
        let transport = MockTransport(scheduler: time)
        let model = SearchModel(
            provider: DefaultAPIProvider(baseURL: GitHub.url, transport: transport))

        model.search(for: "s")
        model.search(for: "swift")
        #expect(model.isLoading)
        time.advance(by: .seconds(60))

        #expect(model.repositories.count == 2)
        #expect(model.message == nil)
    }
}
