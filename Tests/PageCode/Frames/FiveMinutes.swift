import Testing

private let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return encoder
}()

nonisolated private struct User: Codable { let fullName: String }

private struct CreateUser: APIRequest {
    var endpoint: Endpoint<JSONValue> { Endpoint(.post, "/users", body: .json(User(fullName: "Mona"))) }
}

extension APITests {
    @Test("What a suite's init tells the mock counts in its tests", tenMinutes)
    func initCounts() async throws {
        MockURLProtocol.stub(CreateUser(), respond: .json(User(fullName: "Mona")))
        let provider = DefaultAPIProvider(
            baseURL: URL(string: "https://api.example.com/v1"), configuration: MockURLProtocol.configuration, encoder: encoder)
        #expect(try await provider.request(CreateUser()).value == ["full_name": "Mona"])
        #expect(MockURLProtocol.requests.map(\.path) == ["/v1/users"])
    }
}
