import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Code without this package, whose session is a parameter.
private struct Profile {
    struct User: Decodable { let name: String }

    let session: URLSession

    func greeting() async throws -> String {
        let (data, _) = try await session.data(from: example.appendingPathComponent("user"))
        return "Hello, \(try JSONDecoder().decode(User.self, from: data).name)!"
    }
}

@Test("The README's model for async code shows what was found, and the sentence of an error", .mockNetwork, tenMinutes)
@MainActor
private func asyncModel() async throws {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .sequence([.fixture(Fixture.search), .status(500)]))
    let model = AsyncSearchModel(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))
    await model.search("swift")
    #expect(model.items.map(\.name) == ["swift", "swift-nio"])
    #expect(model.message == nil)
    await model.search("swift")
    #expect(model.message == "The server has a problem.")
}

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
