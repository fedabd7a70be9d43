import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport

private let api = example
private struct User: Codable { let login: String }
private struct Repository: Codable { let name: String }

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
        (try? result.get())?.statusCode == 423 ? true : nil
    }
    return [RetryMiddleware(policy)]
}

@MainActor private func upload(_ endpoint: Endpoint<Void>) -> Endpoint<Void> {
    final class Bar { var progress = 0.0 }
    let bar = Bar()
    return
        endpoint.onProgress(on: MainActor.shared) { bar.progress = Double($0.bytesSent) / Double($0.bytesToSend ?? .max) }
}

private func values(_ id: Int, _ provider: DefaultAPIProvider, _ authentication: AuthenticationMiddleware<String>) -> [Any] {
    let logins = (0..<10).map { "user\($0)" }
    return [
        DefaultAPIProvider(baseURL: api, middlewares: [RetryMiddleware(), authentication, CoalescingMiddleware()]),
        DefaultAPIProvider(baseURL: api, middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 4)]),
        Endpoint<Void>(.get, "/short/\(id)").option(\.redirectPolicy, .never).withResponse(),
        Endpoint<Data>(.get, "/file").option(\.redirectPolicy, .decide { next, _ in next.url.host == "cdn.example.com" ? next : nil }),
        HTTPHeaders.authorization(username: "Aladdin", password: "open sesame"),
        Single.zip(logins.map { provider.request(.user($0)) }, maxConcurrent: 4),
        provider.pages(StarredRequest(login: "octocat")).all(\.self, maxPages: 10),
    ]
}

private func pages(_ provider: DefaultAPIProvider, _ show: ([String]) -> Void) async throws {
    let pages = provider.pages(SearchRequest(keyword: "swift")) { page, response in
        page.cursor.map { Endpoint(.get, "/search", query: ["after": $0]) }
    }
    for try await page in pages { show(page.items) }
}

private func stubs() {
    MockURLProtocol.stub("a large upload", where: { $0.body.count > 1_000_000 }, respond: .status(413))
    MockURLProtocol.stub(.post, "/orders", respond: .status(201)).expecting(1)
    MockURLProtocol.baseURL = URL(string: "https://api.example.com/v3")
    MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))
}
