import Testing

@Test("The README's model shows what was found, and the sentence of an error", .mockNetwork, tenMinutes)
@MainActor
private func model() async throws {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .sequence([.fixture(Fixture.search), .status(500)]))
    let model = SearchModel(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))
    model.search("swift")
    await eventually { !model.items.isEmpty }
    #expect(model.items.map(\.name) == ["swift", "swift-nio"])
    model.search("swift")
    await eventually { model.message != nil }
    #expect(model.message == "The server has a problem.")
}
