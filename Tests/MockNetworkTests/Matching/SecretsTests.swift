@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import MockNetwork

@Suite("Secrets in texts", tenMinutes)
struct SecretsTests {
    @Test("A secret shows in no error, log, cURL text, dump or report", arguments: Planted.all)
    func planted(row: Planted) async throws {
        let (request, answer) = try row.exchange()
        for (name, text) in try await shown(request, answer) {
            // A report shows the short values of a header or a query: a test compares them.
            if row.secret.count < 12, name.hasPrefix("report") || name.hasPrefix("unmatched") { continue }
            #expect(!text.contains(row.secret), "\(name): \(text)")
        }
    }

    @Test("A report about a session's request does not show a segment of the path that is marked as secret")
    func pathOfASession() async throws {
        try await MockURLProtocol.withScope {
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            let request = provider.request(Endpoint<Data>(.get, "/reset/\(secret: "correcthorse")"))
            let error = try await #require(throws: APIError.self) { try await request.value }
            #expect("\(error)".contains("/reset/…") && !"\(error)".contains("correcthorse"), "\(error)")
        }
    }

    @Test(
        "A text in a report shows no word that may be a secret, and no value in the query of a URL",
        arguments: [
            ("see https://a.example/b?q=word#top, or item1", "see https://a.example/b?q=…, or item1"),
            ("the key is sk1a2b3c4d5e", "the key is …"), ("order sk1a2b3c", "order sk1a2b3c"),
        ])
    func message(text: String, shown: String) {
        #expect(ReportRedactor.standard.body(BodyLines(Data(text.utf8))) == shown)
    }

    @Test(
        "A short value in a report is hidden under the name of a credential, in a header, a query, a form and JSON",
        arguments: [
            ("X-Key", true), ("Authorization", true), ("userPassword", true), ("X-Api-Key", true), ("user[password]", true),
            ("accesstoken", true), ("Session", true),
            ("pwd", true), ("pin", true), ("X-Auth-Key", true), ("signing_key", true), ("spin", false), ("sigma", false), ("X-Kind", false),
            ("keyword", false), ("page", false), ("sortKey", false),
        ])
    func names(name: String, isSecret: Bool) {
        let redactor = ReportRedactor.standard
        let shown = isSecret ? "…" : "word1"
        #expect(redactor.header(name, "word1") == shown && redactor.header(name, "").isEmpty)
        #expect(redactor.item(name, "word1") == shown && redactor.item(name, "").isEmpty)
        #expect(redactor.url("/a?\(name)=word1&b") == "/a?\(name)=\(shown)&b")
        #expect(redactor.body(BodyLines(Data("\(name)=word1&b".utf8))) == "\(name)=\(shown)&b")
        let json = #"{"a":[{"\#(name)":{"b":["word1"]}}],"c":12}"#
        #expect(redactor.body(BodyLines(Data(json.utf8))) == json.replacingOccurrences(of: "word1", with: shown))
    }

    @Test(
        "A whole value that is a number of up to twelve digits is shown: it is an id or a time",
        arguments: [("1700000000", true), ("170000000012", true), ("4111111111111111", false)])
    func numbers(value: String, isShown: Bool) {
        #expect(ReportRedactor.standard.url("/a?since=\(value)") == "/a?since=\(isShown ? value : "…")")
    }

    @Test(
        "A number in JSON is hidden under the name of a credential, and if it may be that of a card",
        arguments: [
            (#"{"password":12345678,"a":1}"#, #"{"password":"…","a":1}"#), (#"{"pin":{"code":1234}}"#, #"{"pin":{"code":"…"}}"#),
            (#"{"card":4111111111111111}"#, #"{"card":"…"}"#),
            (
                #"{"id":123456789012,"at":1700000000.25,"lat":52.520008123,"n":-1,"e":1e5}"#,
                #"{"id":123456789012,"at":1700000000.25,"lat":52.520008123,"n":-1,"e":1e5}"#
            ),
        ])
    func numbersOfJSON(json: String, shown: String) {
        #expect(ReportRedactor.standard.body(BodyLines(Data(json.utf8))) == shown)
    }

    @Test("JSON within the texts of JSON is shown without its secrets, four levels deep", arguments: 1...6)
    func nested(depth: Int) {
        let json = (1..<depth).reduce(#"{"kind":"open","password":"correcthorse"}"#) { json, _ in
            #"{"a":\#(String(decoding: json.jsonString, as: UTF8.self))}"#
        }
        let shown = ReportRedactor.standard.item("a", json)
        #expect(shown.contains("open") == (depth <= 4) && !shown.contains("correcthorse"), "\(shown)")
    }

    /// All that this package may show of an exchange.
    private func shown(_ request: PreparedRequest, _ answer: APIResponse) async throws -> [(String, String)] {
        var shown: [(String, String)] = [("cURL", request.curlCommand())]
        func add(_ name: String, _ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            shown += [(name, "\(value)"), ("\(name), debug", String(reflecting: value)), ("\(name), dump", dumped)]
        }
        let log = Log<String>()
        // No endpoint has a user in its URL, but a middleware may put one there.
        let endpoint = Endpoint<[Int]>(.get, .url(example))
        for answer in [answer, APIResponse(to: request, statusCode: 200, headers: answer.allHeaders, data: answer.data)] {
            let provider = DefaultAPIProvider(
                baseURL: request.url, transport: ClosureTransport { _ in .just(answer) },
                middlewares: [Sending(request), LoggingMiddleware(.bodies, log: log.append)])
            add("response", answer)
            add("provider", provider)
            do { _ = try await provider.request(endpoint).value } catch {
                add("error", error)
                add("NSError", error as NSError)
                shown.append(("localized", error.localizedDescription))
            }
        }
        let exchanges = Log<Exchange>()
        let exchanging = ExchangeTransport { exchange in
            exchanges.append(exchange)
            exchange.complete(with: URLError(.timedOut))
            return Disposables.create()
        }
        _ = try? await exchanging.send(request).value
        for exchange in exchanges.entries { add("exchange", exchange) }
        add("exchange transport", exchanging)
        // JSON is text with names, and an error's words are a sentence.
        let words = answer.data.first == UInt8(ascii: "{") ? "" : String(decoding: answer.data, as: UTF8.self)
        for error in [APIError.transport(request, underlying: Words(words)), .invalidRequest(reason: "no", underlying: Words(words))] {
            add("foreign error", error)
            add("foreign error, NSError", error as NSError)
            add("foreign error, underlying", (error as NSError).userInfo[NSUnderlyingErrorKey] as Any)
        }
        add("invalid", APIError.invalidRequest(reason: words))
        shown.append(("log", log.entries.joined(separator: "\n")))
        try await MockURLProtocol.withScope {
            let other = "[\(String(decoding: try request.body?.data() ?? Data(), as: UTF8.self))]"
            let headers = request.headers.map { (key: $0.name, value: "other") }
            MockURLProtocol.stub(
                .put, "/other", query: ["a": "b"], headers: HTTPHeaders(headers), body: .json(text: other), respond: .status(200))
            MockURLProtocol.stub(.put, "/other", body: .form(["a": "b"]), respond: .status(200))
            MockURLProtocol.stub(.put, "/other", body: .data(Data("\(other)x".utf8)), respond: .status(200))
            let error = try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(transport: MockTransport(), middlewares: [Sending(request)]).request(endpoint).value
            }
            add("report", try request.url.user == nil ? #require(error.underlying) : error)
            add("unmatched", MockURLProtocol.unmatchedRequests)
        }
        return shown
    }
}

private struct Words: LocalizedError {
    let errorDescription: String?
    init(_ words: String) { errorDescription = words }
}

extension APIResponse {
    fileprivate var allHeaders: HTTPHeaders {
        HTTPHeaders(httpResponse.allHeaderFields.reduce(into: [String: String]()) { $0["\($1.key)"] = "\($1.value)" })
    }
}

/// Sends one request in the place of each.
private struct Sending: Middleware {
    /// A closure, which a dump of the provider does not look into.
    let request: @Sendable () -> PreparedRequest
    init(_ request: PreparedRequest) { self.request = { request } }

    func intercept(
        _ request: PreparedRequest, next: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        next(self.request())
    }
}

extension PreparedRequest {
    fileprivate init(posting body: Data?, to url: String, headers: [String: String]) throws {
        self.init(.post, try #require(URL(string: url)), headers: HTTPHeaders(headers), body: body.map { RequestBody($0) })
    }
}

extension Planted {
    /// A request and its response, with the secret in both if the place exists in both.
    fileprivate func exchange() throws -> (PreparedRequest, APIResponse) {
        var url = "https://a.example/a"
        var headers: [String: String] = [:]
        var body: Data?
        switch place {
        case .url: url = text
        case .header(let name): headers[name] = text
        case .body(let type): (headers["Content-Type"], body) = (type, Data(text.utf8))
        }
        let request = try PreparedRequest(posting: body, to: url, headers: headers)
        let answer = APIResponse(to: request, statusCode: 400, headers: HTTPHeaders(headers), data: body ?? Data())
        return (request, answer)
    }
}
