import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct Item: Codable, Equatable { let name: String }

private final class Account: Sendable {
    let provider: DefaultAPIProvider
    private let login: DefaultAPIProvider
    private let authentication: AuthenticationMiddleware<Session>
    private let keep: @Sendable (Session?) -> Void

    /// - Parameters:
    ///   - session: What the last sign-in has left in the keychain.
    ///   - keep: Writes a session to the keychain, or removes it.
    init(
        baseURL: URL, configuration: URLSessionConfiguration = .default, session: Session?, keep: @escaping @Sendable (Session?) -> Void
    ) {
        let login = DefaultAPIProvider(baseURL: baseURL, configuration: configuration)
        let authentication = AuthenticationMiddleware(
            session,
            apply: { $1.headers["Authorization"] = "Bearer \($0.accessToken)" },
            expiry: { $0.expires - 60 }
        ) { expired in
            .create {
                guard let expired else { throw SignInError.needed }
                let refresh = Endpoint<Session>(
                    .post, "/token", body: .form(["grant_type": "refresh_token", "refresh_token": expired.refreshToken]))
                let session = try await login.request(refresh).value
                keep(session)
                return session
            }
        }
        (self.login, self.authentication, self.keep) = (login, authentication, keep)
        provider = DefaultAPIProvider(
            baseURL: baseURL, configuration: configuration, middlewares: [RetryMiddleware(), authentication])
    }

    func signIn(_ name: String, _ password: String) -> Single<Void> {
        let request = Endpoint<Session>(.post, "/token", body: .form(["grant_type": "password", "username": name, "password": password]))
        return login.request(request).map { [authentication, keep] session in
            keep(session)
            authentication.credential = session
        }
    }

    func signOut() {
        keep(nil)
        authentication.credential = nil
    }
}

private struct Session: Codable {
    let accessToken, refreshToken: String
    let expires: Date
}

private enum SignInError: Error { case needed }

@Suite("The cookbook: signing in", .mockNetwork)
struct SignInTests {
    private let kept = Locked<Session?>(nil)

    private func account(_ session: Session? = nil) -> Account {
        Account(baseURL: example, configuration: MockURLProtocol.configuration, session: session) { [kept] session in
            kept.withLock { $0 = session }
        }
    }

    private func session(_ number: Int, expires: Date = .distantFuture) -> Session {
        Session(accessToken: "a\(number)", refreshToken: "r\(number)", expires: expires)
    }

    /// Answers a refresh by the refresh token, once.
    private func stubRefresh(_ number: Int) {
        MockURLProtocol.stub(
            .post, "/token", body: .form(["grant_type": "refresh_token", "refresh_token": "r\(number)"]), times: 1,
            respond: .json(session(number + 1)))
    }

    private func stubMe(_ number: Int, _ response: StubResponse) {
        MockURLProtocol.stub(.get, "/me", headers: ["Authorization": "Bearer a\(number)"], respond: response)
    }

    @Test("Requests have the token of the sign-in, which is kept until the sign-out")
    func signIn() async throws {
        MockURLProtocol.stub(
            .post, "/token", body: .form(["grant_type": "password", "username": "a", "password": "b"]), respond: .json(session(1)))
        stubMe(1, .json(Item(name: "me")))
        let account = account()
        await #expect(throws: SignInError.needed) { try await account.provider.request(Endpoint<Item>(.get, "/me")).value }
        try await account.signIn("a", "b").value
        #expect(try await account.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me")
        #expect(kept.withLock { $0?.refreshToken } == "r1")
        account.signOut()
        #expect(kept.withLock { $0 == nil })
        await #expect(throws: SignInError.needed) { try await account.provider.request(Endpoint<Item>(.get, "/me")).value }
    }

    @Test("A token that was refused is refreshed by the refresh token, and the next refresh has the new one")
    func refused() async throws {
        stubMe(1, .status(401))
        stubMe(2, .sequence([.json(Item(name: "me")), .status(401)]))
        stubMe(3, .json(Item(name: "me again")))
        stubRefresh(1)
        stubRefresh(2)
        let account = account(session(1))
        #expect(try await account.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me")
        #expect(kept.withLock { $0?.refreshToken } == "r2")
        #expect(try await account.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me again")
        #expect(kept.withLock { $0?.refreshToken } == "r3")
    }

    @Test("A token that is about to expire is refreshed before it is sent")
    func expiring() async throws {
        stubMe(2, .json(Item(name: "me")))
        stubRefresh(1)
        let account = account(session(1, expires: Date(timeIntervalSinceNow: 30)))
        #expect(try await account.provider.request(Endpoint<Item>(.get, "/me")).value.name == "me")
    }
}
