// The code of "Describing a request" and of "Moving from Alamofire and Moya", as it stands there.

import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

private struct SearchResponse: Decodable { let items: [Item] }
private struct AccessToken: Decodable {}
private struct Refusal: Error, Decodable { let error: String }
private struct Envelope: Decodable { let data: Item }
private let api = example

private struct SearchRequest: APIRequest {
    let keyword: String
    var page: Int?

    var endpoint: Endpoint<SearchResponse> {
        Endpoint(.get, "/search/repositories", query: ["q": keyword, "page": page], headers: ["Accept-Language": "en"])
    }
}

private enum Examples {
    static func token(for code: String) -> Endpoint<AccessToken> {
        Endpoint(.post, "/login/oauth/access_token", body: .form(["code": code])).validating { response in
            guard response.statusCode == 200 else { throw APIError.unacceptableStatus(response) }
            if let refusal = try? response.decode(Refusal.self) { throw refusal }
        }
    }

    static func tagged(_ path: RequestPath) -> Endpoint<(item: Item, etag: String?)> {
        Endpoint<Item>(.get, path).withResponse().map { item, response in (item, response.value(forHTTPHeaderField: "ETag")) }
    }

    static func add(_ item: Item) -> Endpoint<Item> { Endpoint(.post, "/items", body: .json(item)) }

    static func signIn(_ name: String, _ password: String) -> Endpoint<Void> {
        Endpoint(.post, "/session", body: .form(["name": name, "password": password]))
    }

    static func upload(_ photo: URL, title: String) -> Endpoint<Void> {
        Endpoint(
            .post, "/photos",
            body: .multipart([
                MultipartPart(name: "title", value: title),
                MultipartPart(name: "photo", file: photo, contentType: "image/jpeg"),
            ]))
    }

    static func page(at url: URL) -> Endpoint<[Item]> { Endpoint(.get, .url(url)) }

    static func me(_ token: String) -> Endpoint<Item> { Endpoint(.get, "/bot\(secret: token)/getMe") }

    static func fresh(_ id: Int) -> Endpoint<Item> {
        Endpoint(.get, "/items/\(id)").adapting { $0.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData }
    }

    static func download(_ id: Int, to file: URL, report: @escaping @Sendable (Int64) -> Void) -> Endpoint<URL> {
        Endpoint(.get, "/items/\(id)/photo", downloadingTo: file).onProgress { report($0.bytesReceived) }
    }

    static func pay(_ item: Item) -> Endpoint<Void> {
        Endpoint(.post, "/payments", body: .json(item)).option(\.name, "pay").option(\.retryPolicy, .never)
    }

    static func publicKeys() -> Endpoint<[String]> { Endpoint(.get, "/keys").option(\.isAuthenticated, false) }

    static func provider(of lists: URL) -> DefaultAPIProvider { DefaultAPIProvider(baseURL: lists, decoder: PropertyListDecoder()) }
}

@Suite("The articles on requests")
struct DescribingARequestTests {
    @Test func search() throws {
        let sent = try SearchRequest(keyword: "swift").endpoint.preparedRequest(relativeTo: api)
        #expect(sent.url.absoluteString == "https://api.example.com/search/repositories?q=swift")

        let response = APIResponse(to: sent, data: Data(#"{"items":[]}"#.utf8))
        let value = try SearchRequest(keyword: "swift").endpoint.value(of: response)
        #expect(value.items.isEmpty)
    }
}

extension APIRequest where Self == Endpoint<Item> {
    fileprivate static func user(_ login: String) -> Self { Endpoint<Item>(.get, "/users/\(login)") }
}

@MainActor private final class Bar { var progress = 0.0 }

/// The code in the tables of "Moving from Alamofire and Moya".
private func moved(
    _ provider: DefaultAPIProvider, _ configuration: URLSessionConfiguration, _ token: String, _ refresh: Single<String>,
    _ log: Log<String>,
    _ name: String, _ password: String, _ ids: [Int], _ bar: Bar
) async throws -> [Any] {
    let subscription = provider.request(Endpoint<[Item]>(.get, "/items")).subscribe { event in log.append("\(event)") }
    subscription.dispose()
    _ = provider.request(.user("octocat")).subscribe { event in log.append("\(event)") }
    return [
        DefaultAPIProvider(baseURL: api, configuration: configuration),
        Endpoint<[Item]>(.get, "/search", query: ["q": "swift"]),
        Endpoint<Item>(.post, "/items", body: .form(["a": "b"])),
        Endpoint<Item>(.get, "/me", headers: .authorization(bearerToken: token)),
        Endpoint<Item>(.get, "/me", headers: .authorization(username: name, password: password)),
        Endpoint<[Item]>(.get, "/items", query: ["ids[]": ids]), ["ids": ids] as QueryParameters,
        Endpoint<Void>(.get, "/short").option(\.redirectPolicy, .never),
        Endpoint<Void>(.get, "/short").option(\.redirectPolicy, .decide { next, _ in next }),
        Endpoint<Item>(.get, "/me", timeoutInterval: 5), Endpoint<Item>(.get, "/me").timeout(.seconds(5)),
        Endpoint<Data>(.get, "/file").onProgress(on: MainActor.shared) { bar.progress = Double($0.bytesSent) },
        RetryMiddleware(RetryPolicy(shouldRetry: { _, result in (try? result.get())?.statusCode == 423 ? true : nil })),
        Endpoint<Item>(.get, "/me").withResponse().map { $1.metrics },
        Endpoint<Item>(.get, "/me").validating { response in log.append("\(response.statusCode)") },
        Endpoint<Data>(.get, "/raw"),
        Endpoint<String>(.get, "/raw"),
        Endpoint<Item>(.get, "/me").withResponse().map { $1.value(forHTTPHeaderField: "ETag") },
        Endpoint<Void>(.post, "/form", body: .multipart([MultipartPart(name: "a", value: "b")])),
        Endpoint<Data>(.get, "/file").onProgress { log.append("\($0.bytesReceived)") },
        AuthenticationMiddleware(token: token) { _ in refresh },
        RetryMiddleware(RetryPolicy(maxAttempts: 3)),
        try await provider.request(Endpoint<Item>(.get, "/me")).value,
        provider.request(.user("octocat")).observe(on: MainActor.shared),
        Endpoint<Envelope>(.get, "/me").map(\.data),
    ]
}
