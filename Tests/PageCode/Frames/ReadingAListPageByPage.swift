import Testing

@Test("A screen loads more until a page has no link", .mockNetwork, tenMinutes)
@MainActor
private func loadMore() async throws {
    let next = #"</users/1/starred?page=2&per_page=30>; rel="next""#
    MockURLProtocol.stub(
        .get, "/users/octocat/starred", query: ["per_page": 30], respond: .json([Star(name: "swift")], headers: ["Link": next]))
    MockURLProtocol.stub(.get, "/users/1/starred", query: ["page": 2, "per_page": 30], respond: .json([Star(name: "swift-nio")]))
    let list = StarList("octocat", provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))

    try await list.loadMore()
    #expect(list.stars.map(\.name) == ["swift"] && list.hasMore)
    try await list.loadMore()
    #expect(list.stars.map(\.name) == ["swift", "swift-nio"] && !list.hasMore)
}
