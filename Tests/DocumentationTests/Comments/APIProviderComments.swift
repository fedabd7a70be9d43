import APIProvider
import Foundation
import MiniRx
import TestSupport

private struct Item: Codable {}
private struct Receipt: Codable {}
private struct Issue: Codable { let title: String }
private struct User: Codable { let login: String }
private struct SearchResponse: Codable { let items: [Item] }
private let api = example
private let gitHub = example

private struct SearchRequest: APIRequest {
    let keyword: String
    var endpoint: Endpoint<SearchResponse> { Endpoint(.get, "/search/repositories", query: ["q": keyword]) }
}

private struct UserRequest: APIRequest {
    let login: String
    var endpoint: Endpoint<User> { Endpoint(.get, "/users/\(login)") }
}

extension APIRequest where Self == Endpoint<User> {
    fileprivate static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}

extension APIRequest where Self == Endpoint<Issue> {
    fileprivate static func createIssue(_ issue: Issue, in repository: String, of owner: String) -> Self {
        Endpoint(.post, "/repos/\(owner)/\(repository)/issues", body: .json(issue))
    }
}

private struct NewIssue: Encodable {
    let title: String
    let milestone: Int
}

private func newIssue() -> HTTPBody {
    let body = HTTPBody.json(NewIssue(title: "It crashes", milestone: 1))
    return body
}

@MainActor
private final class Screen {
    private var items: [Item] = []
    private var user: User?
    private let bag = DisposeBag()

    func show(_ error: any Error) {}

    func search() {
        // swift-format-ignore: NeverForceUnwrap
        let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.github.com")!, middlewares: [RetryMiddleware()])

        provider.request(SearchRequest(keyword: "swift"))
            .observe(on: MainActor.shared)
            .subscribe(onSuccess: { self.items = $0.items }, onFailure: { self.show($0) })
            .disposed(by: bag)
    }

    func load() {
        let provider = DefaultAPIProvider(baseURL: gitHub, middlewares: [RetryMiddleware(), LoggingMiddleware()])
        provider.request(UserRequest(login: "octocat"))
            .observe(on: MainActor.shared)
            .subscribe(onSuccess: { self.user = $0 }, onFailure: { self.show($0) })
            .disposed(by: bag)
    }
}

private func endpoints(
    _ provider: DefaultAPIProvider, keyword: String, owner: String, name: String, issue: Issue, nextPage: URL, login: String, file: URL,
    order: Item
) -> [Any] {
    [
        provider.request(UserRequest(login: "octocat")),
        provider.request(.user("octocat")),
        Endpoint<SearchResponse>(.get, "/search/repositories", query: ["q": keyword]),
        Endpoint<Issue>(.post, "/repos/\(owner)/\(name)/issues", body: .json(issue)),
        Endpoint<Void>(.delete, "/user/starred/\(owner)/\(name)"),
        Endpoint<[User]>(.get, .url(nextPage)),
        Endpoint(.get, "/avatars/\(login).png", downloadingTo: file),
        RetryMiddleware(RetryPolicy(maxAttempts: 5)),
        Endpoint<Receipt>(.post, "/orders", body: .json(order)).option(\.retryPolicy, .never),
        Endpoint<[Item]>(.get, "/items").option(\.priority, 1),
    ]
}

extension Endpoint {
    fileprivate var gitHub: Endpoint {
        var endpoint = self
        endpoint.headers["X-GitHub-Api-Version"] = "2022-11-28"
        return endpoint
    }
}

private enum PriorityKey: RequestOptionKey { static let defaultValue = 0 }

extension RequestOptions {
    fileprivate var priority: Int {
        get { self[PriorityKey.self] }
        set { self[PriorityKey.self] = newValue }
    }
}

private func paths(owner: String, name: String, token: String, nextPage: URL) -> [RequestPath] {
    [
        "/search/repositories",
        "/repos/\(owner)/\(name)",
        "/repos/\(path: "apple/swift")/issues",
        "/bot\(secret: token)/getMe",
        .url(nextPage),
    ]
}

private enum Order: String, QueryValue { case ascending = "asc", descending = "desc" }

private func parameters(text: String, page: Int?, sortOrder: Order, dictionary: [String: String]) -> [QueryParameters] {
    var query: QueryParameters = ["q": text, "label": ["a", "b"], "page": page]
    query.append("sort", sortOrder)
    let others = QueryParameters(dictionary)
    return [query, others]
}

private func headers(etag: String?, dictionary: [String: String]) -> [HTTPHeaders] {
    let headers: HTTPHeaders = ["Accept-Language": "en", "If-None-Match": etag]
    let others = HTTPHeaders(dictionary)
    return [headers, others]
}

private struct Upload {
    let photo: URL

    var body: HTTPBody? {
        .multipart([
            MultipartPart(name: "title", value: "Holidays"),
            MultipartPart(name: "photo", file: photo, contentType: "image/jpeg"),
        ])
    }
}

private func lines() -> DefaultAPIProvider {
    struct LinesDecoder: BodyDecoder {
        var mediaType: String? { "application/x-ndjson" }
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let lines = data.split(separator: UInt8(ascii: "\n")).joined(separator: Data(",".utf8))
            return try JSONDecoder().decode(type, from: Data("[".utf8) + Data(lines) + Data("]".utf8))
        }
    }
    let provider = DefaultAPIProvider(baseURL: api, decoder: LinesDecoder())
    return provider
}

private struct Version: Middleware {
    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        var request = request
        request.headers["X-GitHub-Api-Version"] = "2022-11-28"
        return next(request)
    }
}

private struct Keychain {
    var accessToken: String?
    var refreshToken = ""
}

private struct RefreshRequest: APIRequest {
    struct Response: Codable { let accessToken: String }
    var refreshToken = ""
    var endpoint: Endpoint<Response> { Endpoint(.post, "/token", body: .form(["refresh_token": refreshToken])) }
}

private func makeProvider(baseURL: URL, login: DefaultAPIProvider) -> DefaultAPIProvider {
    let provider = DefaultAPIProvider(
        baseURL: baseURL,
        middlewares: [
            DefaultHeadersMiddleware(["Accept-Language": "en"]),
            RetryMiddleware(),
            AuthenticationMiddleware { _ in login.request(RefreshRequest()).map(\.accessToken) },
            LoggingMiddleware(),
        ])
    return provider
}

private func signIn(_ login: DefaultAPIProvider, _ keychain: Keychain, _ newToken: String) -> DefaultAPIProvider {
    let authentication = AuthenticationMiddleware(token: keychain.accessToken) { _ in
        login.request(RefreshRequest(refreshToken: keychain.refreshToken)).map(\.accessToken)
    }
    let provider = DefaultAPIProvider(baseURL: api, middlewares: [authentication])

    authentication.credential = newToken  // after sign-in
    authentication.credential = nil  // after sign-out
    return provider
}

private func disconnected() -> DefaultAPIProvider {
    let offline = ClosureTransport { request in .error(URLError(.notConnectedToInternet)) }
    let provider = DefaultAPIProvider(baseURL: api, transport: offline)
    return provider
}
