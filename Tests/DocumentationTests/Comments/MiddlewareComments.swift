import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

// The examples in the doc comments of the middlewares, of pages, and of what an endpoint says about redirects and progress.

private let api = example
private struct User: Codable, Equatable { let login: String }
private struct Repository: Codable, Equatable { let name: String }

private struct Results: Codable {
    let items: [String]
    var cursor: String?
}

private struct SearchRequest: APIRequest {
    let keyword: String
    var endpoint: Endpoint<Results> { Endpoint(.get, "/search", query: ["q": keyword]) }
}

private struct StarredRequest: APIRequest {
    let login: String
    var endpoint: Endpoint<[Repository]> { Endpoint(.get, "/users/\(login)/starred") }
}

extension APIRequest where Self == Endpoint<User> {
    fileprivate static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}

private protocol Signer: Sendable {
    func signature(of body: Data) async throws -> String
}

private func change(_ request: inout PreparedRequest, _ compress: (Data) throws -> Data) throws {
    request.headers["X-Request-ID"] = UUID().uuidString
    request.body = try request.body.map { RequestBody(try compress($0.data())) }
}

private struct Signature: AsyncMiddleware {
    let signer: any Signer

    func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse {
        var request = request
        let body = try request.body?.data() ?? Data()
        request.headers["X-Signature"] = try await signer.signature(of: body)
        return try await next(request)
    }
}

private func providers(_ authentication: AuthenticationMiddleware<String>) -> [DefaultAPIProvider] {
    [
        DefaultAPIProvider(baseURL: api, middlewares: [RetryMiddleware(), authentication, CoalescingMiddleware()]),
        DefaultAPIProvider(baseURL: api, middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 4)]),
    ]
}

private struct Session: Codable, Sendable { var accessToken, refreshToken: String, expires: Date }
private enum SignInError: Error { case needed }

private final class Keychain: Sendable {
    private let kept = Locked<Session?>(nil)
    var session: Session? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}

private struct RefreshRequest: APIRequest {
    let refreshToken: String
    var endpoint: Endpoint<Session> { Endpoint(.post, "/token", body: .form(["refresh_token": refreshToken])) }
}

private func session(_ login: DefaultAPIProvider, _ keychain: Keychain) -> AuthenticationMiddleware<Session> {
    let authentication = AuthenticationMiddleware(
        keychain.session, apply: { $1.headers["Authorization"] = "Bearer \($0.accessToken)" },
        expiry: { $0.expires - 60 }
    ) { expired in
        .create {
            guard let expired else { throw SignInError.needed }
            let refresh = RefreshRequest(refreshToken: expired.refreshToken)
            let session = try await login.request(refresh).value
            keychain.session = session
            return session
        }
    }
    return authentication
}

private func retries() -> [RetryMiddleware] {
    var policy = RetryPolicy()
    policy.shouldRetry = { request, result in
        (try? result.get())?.statusCode == 423 ? true : nil  // the lock will be free soon
    }
    return [RetryMiddleware(policy)]
}

@MainActor private func upload(_ endpoint: Endpoint<Void>) -> Endpoint<Void> {
    final class Bar { var progress = 0.0 }
    let bar = Bar()
    return
        endpoint.onProgress(on: MainActor.shared) { bar.progress = Double($0.bytesSent) / Double($0.bytesToSend ?? .max) }
}

private func redirects(id: Int) -> [Any] {
    [
        Endpoint<Void>(.get, "/short/\(id)").option(\.redirectPolicy, .never).withResponse(),
        Endpoint<Data>(.get, "/file").option(\.redirectPolicy, .decide { next, _ in next.url.host == "cdn.example.com" ? next : nil }),
    ]
}

private func headers() -> HTTPHeaders {
    .authorization(username: "Aladdin", password: "open sesame")
}

@Suite("The examples of middlewares and pages", .mockNetwork)
struct MiddlewareCommentTests {
    private let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())

    @Test("Pages by a cursor")
    func pages() async throws {
        MockURLProtocol.stub(.get, "/search", query: ["q": "swift"], respond: .json(Results(items: ["a"], cursor: "1")))
        MockURLProtocol.stub(.get, "/search", query: ["after": "1"], respond: .json(Results(items: ["b"])))
        var shown: [String] = []
        func show(_ items: [String]) { shown += items }
        let pages = provider.pages(SearchRequest(keyword: "swift")) { page, response in
            page.cursor.map { Endpoint(.get, "/search", query: ["after": $0]) }
        }
        for try await page in pages { show(page.items) }
        #expect(shown == ["a", "b"])
    }

    @Test("Pages by their links, in one")
    func all() async throws {
        MockURLProtocol.stub(.get, "/users/octocat/starred", respond: .json([Repository(name: "a")]))
        let all =
            provider.pages(StarredRequest(login: "octocat")).all(\.self, maxPages: 10)
        #expect(try await all.value == [Repository(name: "a")])
    }

    @Test("Four at a time")
    func some() async throws {
        MockURLProtocol.stub(.get, "/users/*", respond: .handler { .json(User(login: $0.url.lastPathComponent)) })
        let logins = (0..<10).map { "user\($0)" }
        let users =
            Single.zip(logins.map { provider.request(.user($0)) }, maxConcurrent: 4)
        #expect(try await users.value.map(\.login) == logins)
    }

    @Test("A session is refreshed before it expires, and kept")
    func refreshed() async throws {
        let keychain = Keychain()
        keychain.session = Session(accessToken: "old", refreshToken: "r", expires: Date(timeIntervalSinceNow: 30))
        let new = Session(accessToken: "new", refreshToken: "r2", expires: .distantFuture)
        MockURLProtocol.stub(.post, "/token", body: .form(["refresh_token": "r"]), respond: .json(new))
        MockURLProtocol.stub(.get, "/me", headers: ["Authorization": "Bearer new"], respond: .status(204)).expecting(1)
        let authentication = session(provider, keychain)
        try await DefaultAPIProvider(baseURL: api, transport: MockTransport(), middlewares: [authentication])
            .request(Endpoint<Void>(.get, "/me")).value
        #expect(keychain.session?.refreshToken == "r2")
    }

    @Test("Stubs by a closure, with a base URL, and with a number")
    func stubs() async throws {
        MockURLProtocol.stub("a large upload", where: { $0.body.count > 1_000_000 }, respond: .status(413))
        MockURLProtocol.stub(.post, "/orders", respond: .status(201)).expecting(1)
        MockURLProtocol.baseURL = URL(string: "https://api.example.com/v3")
        MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))  // answers https://api.example.com/v3/users/octocat
        let v3 = DefaultAPIProvider(baseURL: api.appendingPathComponent("v3"), transport: MockTransport())
        #expect(try await v3.request(.user("octocat")).value == User(login: "octocat"))
        try await provider.request(Endpoint<Void>(.post, "/orders")).value
        let large = Endpoint<Void>(.put, "/file", body: .data(Data(count: 1_000_001), contentType: "a/b"))
        await #expect(throws: APIError.self) { try await provider.request(large).value }
    }
}
