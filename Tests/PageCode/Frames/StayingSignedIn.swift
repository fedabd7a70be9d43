import Testing

@Test("A refused refresh token asks for a sign-in", .mockNetwork)
private func refusedRefresh() async throws {
    MockURLProtocol.stub(.get, "/orders", respond: .status(401))
    MockURLProtocol.stub(.post, "/token", respond: .json(["error": "invalid_grant"], statusCode: 400))
    let shop = makeShop(Session(accessToken: "old", refreshToken: "1"), configuration: MockURLProtocol.configuration)
    await #expect(throws: SignInNeeded.self) { try await shop.request(Endpoint<[String]>(.get, "/orders")).value }
}

@Test("A nonce of the server is answered once, and the first request has no credential", .mockNetwork)
private func nonce() async throws {
    MockURLProtocol.stub(.get, "/orders", respond: .status(401, headers: ["X-Nonce": "7"])).expecting(1)
    MockURLProtocol.stub(.get, "/orders", headers: ["Authorization": "Nonce signed 7"], respond: .json(["Tea"])).expecting(1)
    let shop = DefaultAPIProvider(
        baseURL: api, transport: MockTransport(),
        middlewares: [NonceMiddleware(host: api.host ?? "") { "signed \($0)" }])
    #expect(try await shop.request(Endpoint<[String]>(.get, "/orders")).value == ["Tea"])
}
