import Testing

// swift-log. The stand-in has the signature that the library documents.
nonisolated private struct Logger: Sendable {
    func info(_ message: @autoclosure () -> String) {}
}

nonisolated private let logger = Logger()

nonisolated private func decoderOfGrants() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
}

@Test("The first request asks for a token, and the next ones share it", .mockNetwork)
private func serviceToken() async throws {
    MockURLProtocol.stub(
        .post, "/token", headers: .authorization(username: "a", password: "b"), body: .form(["grant_type": "client_credentials"]),
        respond: .json(["access_token": "t", "expires_in": 3600])
    ).expecting(1)
    MockURLProtocol.stub(.get, "/items", headers: ["Authorization": "Bearer t"], respond: .json(["a"])).expecting(2)
    let login = DefaultAPIProvider(baseURL: api, transport: MockTransport(), decoder: decoderOfGrants())
    let provider = DefaultAPIProvider(
        baseURL: api, transport: MockTransport(), middlewares: [serviceAuthentication(id: "a", secret: "b", login: login)])
    for _ in 1...2 { #expect(try await provider.request(Endpoint<[String]>(.get, "/items")).value == ["a"]) }
}

@Test("Each attempt of a payment has the payment's key", .mockNetwork)
private func paymentKey() async throws {
    MockURLProtocol.stub(.post, "/payments", respond: .sequence([.status(503), .json(text: "{}")]))
    let provider = DefaultAPIProvider(
        baseURL: api, transport: MockTransport(), middlewares: [RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1)))])
    let payment = Payment(amount: 4, key: UUID())
    _ = try await provider.request(pay(payment)).value
    #expect(MockURLProtocol.requests.map { $0.headers["Idempotency-Key"] } == [payment.key.uuidString, payment.key.uuidString])
}
