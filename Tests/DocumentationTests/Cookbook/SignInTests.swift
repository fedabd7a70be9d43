import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private struct Item: Codable, Equatable { let name: String }

private final class Session: Sendable {
    let provider: DefaultAPIProvider
    private let login: DefaultAPIProvider
    private let authentication: AuthenticationMiddleware

    /// - Parameter token: What the last sign-in has left in the keychain.
    init(baseURL: URL, configuration: URLSessionConfiguration = .default, token: String? = nil) {
        let login = DefaultAPIProvider(baseURL: baseURL, configuration: configuration)
        let authentication = AuthenticationMiddleware(token: token) { expired in
            login.request(Endpoint<Token>(.post, "/token/refresh", body: .form(["token": expired]))).map(\.accessToken)
        }
        self.login = login
        self.authentication = authentication
        provider = DefaultAPIProvider(
            baseURL: baseURL, configuration: configuration, middlewares: [RetryMiddleware(), authentication])
    }

    func signIn(_ name: String, _ password: String) -> Single<Void> {
        login.request(Endpoint<Token>(.post, "/token", body: .form(["name": name, "password": password])))
            .map { [authentication] in authentication.token = $0.accessToken }
    }

    func signOut() {
        authentication.token = nil
    }
}

private struct Token: Codable { let accessToken: String }

@Suite("The cookbook: signing in", .mockNetwork)
struct SignInTests {
    private func session() -> Session { Session(baseURL: example, configuration: MockURLProtocol.configuration) }

    @Test("Requests have the token of the sign-in")
    func signIn() async throws {
        MockURLProtocol.stub(.post, "/token", body: .form(["name": "a", "password": "b"]), respond: .json(Token(accessToken: "t")))
        MockURLProtocol.stub(.get, "/me", headers: ["Authorization": "Bearer t"], respond: .json(Item(name: "me")))
        let session = session()
        try await session.signIn("a", "b").value
        #expect(try await session.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me")
    }

    @Test("A token that has expired is refreshed, and none is left after signing out")
    func refresh() async throws {
        MockURLProtocol.stub(.post, "/token", respond: .json(Token(accessToken: "old")))
        MockURLProtocol.stub(.post, "/token/refresh", body: .form(["token": "old"]), respond: .json(Token(accessToken: "new")))
        MockURLProtocol.stub(.post, "/token/refresh", body: .data(Data()), isOptional: true, respond: .status(403))
        MockURLProtocol.stub(.get, "/me", headers: ["Authorization": "Bearer old"], respond: .status(401))
        MockURLProtocol.stub(.get, "/me", headers: ["Authorization": "Bearer new"], respond: .json(Item(name: "me")))
        let session = session()
        try await session.signIn("a", "b").value
        #expect(try await session.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me")
        session.signOut()
        await #expect(throws: APIError.self) { try await session.provider.request(Endpoint<Item>(.get, "/me")).value }
    }
}
