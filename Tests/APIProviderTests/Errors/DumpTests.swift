@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Descriptions and dumps")
struct DumpTests {
    private struct Item: Encodable { let name: String }

    private let request = PreparedRequest(
        "POST", "https://api.example.com/?q=s3cret", headers: ["A": "s3cret"], body: Data("s3cret".utf8))
    private let endpoint = Endpoint<Data>(
        .post, .url(URL(string: "https://u:s3cret@api.example.com/v1?key=s3cret") ?? example, "/bot\(secret: "s3cret")"),
        query: ["q": "s3cret"], headers: ["Authorization": "s3cret"], body: .json(Item(name: "s3cret"))
    ).option(\.note, "s3cret")

    private var response: APIResponse {
        APIResponse(to: request, statusCode: 400, headers: ["Set-Cookie": "a=s3cret"], data: Data("s3cret".utf8))
    }

    private func settings(cookies: HTTPCookieStorage? = nil) -> ExchangeTransport.Settings {
        var settings = ExchangeTransport.Settings()
        (settings.additionalHeaders, settings.cookies) = (["Authorization": "s3cret"], cookies)
        return settings
    }

    private func transports() throws -> [any Transport] {
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = HTTPCookie(properties: [.name: "a", .value: "s3cret", .domain: "api.example.com", .path: "/"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        configuration.httpAdditionalHeaders = ["Authorization": "s3cret"]
        final class Delegate: NSObject, URLSessionDelegate {}
        return [
            URLSessionTransport(configuration: configuration),
            URLSessionTransport(session: URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: nil)),
            ExchangeTransport(settings(cookies: configuration.httpCookieStorage)) { _ in Disposables.create() },
            ClosureTransport { [response] _ in .just(response) },
        ]
    }

    /// Each has a request in flight.
    private func middlewares() -> [any Middleware] {
        let middlewares: [any Middleware] = [
            AuthenticationMiddleware(Item(name: "s3cret"), apply: { $1.headers["A"] = $0.name }) { _ in .never() },
            AuthenticationMiddleware(token: "s3cret") { _ in .never() }, DefaultHeadersMiddleware(["A": "s3cret"]),
            DefaultQueryMiddleware(["a": "s3cret"]), CoalescingMiddleware(),
            ConcurrencyLimitMiddleware(maxConcurrent: 1), RetryMiddleware(), LoggingMiddleware(),
        ]
        for middleware in middlewares { _ = middleware.intercept(request) { _ in .never() }.subscribe { _ in } }
        return middlewares
    }

    /// A value of each kind that stores a secret.
    private func values() throws -> [Any] {
        let encoder = JSONEncoder()
        encoder.userInfo[try #require(CodingUserInfoKey(rawValue: "key"))] = "s3cret"
        var interpolation = RequestPath.StringInterpolation(literalCapacity: 0, interpolationCount: 1)
        interpolation.appendInterpolation(secret: "s3cret")
        return [
            endpoint, [endpoint], endpoint.headers, endpoint.query, endpoint.options, endpoint.path, interpolation, request,
            SingleEvent.success(response), settings(), try transports(), middlewares(),
            try transports().map { DefaultAPIProvider(baseURL: request.url, transport: $0, encoder: encoder, middlewares: middlewares()) },
        ]
    }

    @Test("No description or dump shows a stored secret")
    func secrets() throws {
        for value in try values() {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, "\(value)", String(reflecting: value)] { #expect(!text.contains("s3cret"), "\(text)") }
        }
    }

    @Test("A description shows what is not secret")
    func descriptions() {
        #expect("\(endpoint)" == "POST https://api.example.com/v1?key=… + /bot…")
        #expect("\(endpoint.headers)" == "HTTPHeaders(Authorization)")
        #expect("\(endpoint.query)" == "q=…")
        #expect("\(response)" == "POST https://api.example.com/?q=…: 400 Bad Request, 6 bytes")
    }
}

private enum NoteKey: RequestOptionKey { static let defaultValue = "" }

extension RequestOptions {
    fileprivate var note: String {
        get { self[NoteKey.self] }
        set { self[NoteKey.self] = newValue }
    }
}
