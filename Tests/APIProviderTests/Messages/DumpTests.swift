import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a dump shows")
struct DumpTests {
    private struct Item: Encodable { let name: String }

    /// A value of each kind that stores a secret.
    private func values() throws -> [String: Any] {
        let url = try #require(URL(string: "https://u:s3cret@api.example.com/v1?key=s3cret"))
        var options = RequestOptions()
        options.note = "s3cret"
        let path: RequestPath = .url(url, "/bot\(secret: "s3cret")")
        let endpoint = Endpoint<Data>(
            .post, path, query: ["q": "s3cret"], headers: ["Authorization": "s3cret"], body: .json(Item(name: "s3cret"))
        ).option(\.note, "s3cret")
        let request = PreparedRequest("POST", "https://api.example.com/?q=s3cret", headers: ["A": "s3cret"], body: Data("s3cret".utf8))
        let response = APIResponse(to: request, status: 400, headers: ["Set-Cookie": "a=s3cret"], data: Data("s3cret".utf8))
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders = ["Authorization": "s3cret"]
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = HTTPCookie(properties: [.name: "a", .value: "s3cret", .domain: "api.example.com", .path: "/"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        settings.cookies = configuration.httpCookieStorage
        configuration.httpAdditionalHeaders = ["Authorization": "s3cret"]
        let transports: [any Transport] = [
            URLSessionTransport(configuration: configuration), ExchangeTransport(settings) { _ in Disposables.create() },
            ClosureTransport { _ in .just(response) },
        ]
        let middlewares: [any Middleware] = [
            AuthenticationMiddleware(Item(name: "s3cret"), apply: { $1.headers["A"] = $0.name }) { _ in .never() },
            AuthenticationMiddleware(token: "s3cret") { _ in .never() }, DefaultHeadersMiddleware(["A": "s3cret"]), CoalescingMiddleware(),
            ConcurrencyLimitMiddleware(maxConcurrent: 1), RetryMiddleware(), LoggingMiddleware(),
        ]
        // Each has a request in flight.
        for middleware in middlewares { _ = middleware.intercept(request) { _ in .never() }.subscribe { _ in } }
        let encoder = JSONEncoder()
        encoder.userInfo[try #require(CodingUserInfoKey(rawValue: "key"))] = "s3cret"
        return [
            "headers": endpoint.headers, "query": endpoint.query, "path": path, "endpoint": endpoint, "options": options,
            "response": response,
            "settings": settings, "transports": transports, "middlewares": middlewares,
            "interpolation":
                ({
                    var text = RequestPath.StringInterpolation(literalCapacity: 0, interpolationCount: 1)
                    text.appendInterpolation(secret: "s3cret")
                    return text
                }()) as Any,
            "errors": [
                APIError.unacceptableStatus(response), .transport(request, underlying: URLError(.timedOut)),
                .decoding(
                    response, expected: "Item",
                    underlying: DecodingError.valueNotFound(Int.self, .init(codingPath: [], debugDescription: ""))),
            ],
            "providers": transports.map { DefaultAPIProvider(baseURL: url, transport: $0, encoder: encoder, middlewares: middlewares) },
        ]
    }

    @Test(
        "No dump or description shows a stored secret",
        arguments: [
            "headers", "query", "path", "endpoint", "options", "response", "settings", "transports", "middlewares", "interpolation",
            "errors",
            "providers",
        ])
    func dumps(name: String) throws {
        let value = try #require(try values()[name])
        var dumped = ""
        dump(value, to: &dumped)
        for text in [dumped, "\(value)", String(reflecting: value)] { #expect(!text.contains("s3cret"), "\(text)") }
    }

    @Test("What says nothing of a secret is there")
    func kept() throws {
        let values = try values()
        for (name, text) in [
            ("endpoint", "POST https://api.example.com/v1?key=… + /bot…"), ("headers", "HTTPHeaders(Authorization)"), ("query", "q=…"),
        ] {
            #expect("\(try #require(values[name]))" == text)
        }
        #expect("\(try #require(values["response"]))" == "POST https://api.example.com/?q=…: 400 Bad Request, 6 bytes")
    }
}

private enum NoteKey: RequestOptionKey { static let defaultValue = "" }

extension RequestOptions {
    fileprivate var note: String {
        get { self[NoteKey.self] }
        set { self[NoteKey.self] = newValue }
    }
}
