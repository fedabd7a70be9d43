@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks

@Suite("Secrets in texts", tenMinutes)
struct SecretsTests {
    @Test(
        "A secret shows in no error, log, cURL text or dump, and under the name of a credential in no report, either",
        arguments: Planted.all)
    func planted(row: Planted) async throws {
        let (request, answer) = try row.exchange()
        let reports = try row.isNamed ? await reports(on: request) : []
        for (name, text) in try await shown(request, answer) + reports { #expect(!text.contains(row.secret), "\(name): \(text)") }
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
        "Under the name of a credential, numbers of JSON are hidden, and in other text all that follows; a variable of GraphQL is shown",
        arguments: [
            ("password: hunter!2024", "password: …"), ("password: $ecret1/23", "password: …"), ("token: true-love99", "token: …"),
            ("curl --password=hunter22", "curl --password=…"), ("password: 12.34.56-rest", "password: …"),
            (#"password: "ab"cdef"#, "password: …"), ("{$password: hunter22, a: 1}", "{$password: hunter22, a: 1}"),
            (#"a: 1, password: "x", b: 2"#, "a: 1, password: …"),
            ("login(password: $pw, first: 1)", "login(password: $pw, first: 1)"),
            (#"{"password":12345678,"a":1}"#, #"{"password":"…","a":1}"#), (#"{"pin":{"code":1234}}"#, #"{"pin":{"code":"…"}}"#),
            (
                #"{"id":4111111111111111,"at":1700000000.25,"lat":52.520008123,"n":-1,"e":1e5}"#,
                #"{"id":4111111111111111,"at":1700000000.25,"lat":52.520008123,"n":-1,"e":1e5}"#
            ),
        ])
    func bodies(text: String, shown: String) { #expect(ReportRedactor.standard.body(BodyLines(Data(text.utf8))) == shown) }

    @Test(
        "Where the name of a credential is a value itself, nothing of the markup is shown, because the secret may stand before its name",
        arguments: [
            (#"sent <property value="hunter2222" name="password" kind="a"/>"#, "sent …"),
            (#"<a note="b"><property value='hunter2222' name='password'/></a>"#, "…"),
            (#"{"value": "hunter2222", "name": "password", "#, "…"), (#"login(value: "hunter2222", kind: "password")"#, "…"),
            ("<a><name>password</name><string>hunter2222</string></a>", "…"),
            ("<a><value>hunter2222</value><name> password </name></a>", "…"),
            (#"<property value="shown" name="note"/>"#, #"<property value="shown" name="note"/>"#),
            ("<a><name>note</name><string>shown</string></a>", "<a><name>note</name><string>shown</string></a>"),
        ])
    func namesAsValues(text: String, shown: String) { #expect(ReportRedactor.standard.message(text) == shown) }

    @Test(
        "The default of a variable of GraphQL is a value, and a name may begin with a digit",
        arguments: [
            (#"mutation($password: String = "hunter4444")"#, "mutation($password: String = …"),
            ("query($note: Int = 1, $pins: [Int!]! =[4711])", "query($note: Int = 1, $pins: [Int!]! =…"),
            ("mutation($first: Int = 10, $password: String!)", "mutation($first: Int = 10, $password: String!)"),
            ("2fa_token: 99887766", "2fa_token: …"), ("at 12:30, 2nd_item: 7", "at 12:30, 2nd_item: 7"),
        ])
    func defaultsAndDigits(text: String, shown: String) { #expect(ReportRedactor.standard.message(text) == shown) }

    @Test("A name of JSON that contains dots is asked for as a whole, and in its parts")
    func namesWithDots() {
        let redactor = ReportRedactor(for: nil, hiding: ["a.b"])
        func shown(_ json: String) -> String? { redactor.body(BodyLines(Data(json.utf8))) }
        #expect(shown(#"{"card.number":"4242","x":{"card.number":4242}}"#) == #"{"card.number":"…","x":{"card.number":"…"}}"#)
        #expect(shown(#"{"a.b":"x","pin.code":"y"}"#) == #"{"a.b":"…","pin.code":"…"}"#)
        #expect(shown(#"{"card.type":"x","item.number":"y","b":"z"}"#) == #"{"card.type":"x","item.number":"y","b":"z"}"#)
    }

    @Test(
        "A URL, JSON or text in a header is shown without its secrets",
        arguments: [
            ("Referer", "https://app.x/cb?token=abcdef123456", "https://app.x/cb?token=…"),
            ("X-Context", #"{"password":"hunter33333","a":1}"#, #"{"password":"…","a":1}"#), ("X-Hint", "pin=4711", "pin=…"),
            ("Referer", "https://app.x/list?page=2", "https://app.x/list?page=2"), ("ETag", #"W/"a1""#, #"W/"a1""#),
            ("Content-Type", #"multipart/form-data; boundary="b""#, #"multipart/form-data; boundary="b""#),
        ])
    func headers(name: String, value: String, shown: String) { #expect(ReportRedactor.standard.header(name, value) == shown) }

    @Test("A mark of its script behind a sign or a name shows no secret", arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func marks(mark: String) {
        for text in [
            "login(password:\(mark)hunter2)", "password\(mark)=hunter2", "password=\(mark)hunter2",
            "</\(mark)a><password>hunter2</password>",
            "{\"password\(mark)\": \"hunter2\"}", "[{\"name\": \"password\(mark)\", \"value\": \"hunter2\"}]",
        ] {
            let shown = ReportRedactor.standard.body(BodyLines(Data(text.utf8))) ?? ""
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
    }

    @Test("JSON within the texts of JSON is shown without its secrets, four levels deep", arguments: 1...6)
    func nested(depth: Int) {
        let json = (1..<depth).reduce(#"{"kind":"open","password":"correcthorse"}"#) { json, _ in
            #"{"a":\#(String(decoding: json.jsonString, as: UTF8.self))}"#
        }
        let shown = ReportRedactor.standard.item("a", json)
        #expect(shown.contains("open") == (depth <= 4) && !shown.contains("correcthorse"), "\(shown)")
    }

    /// All that the client may show of an exchange.
    private func shown(_ request: PreparedRequest, _ answer: APIResponse) async throws -> [(String, String)] {
        var shown = [("cURL", request.curlCommand())]
        let log = Log<String>()
        let provider = DefaultAPIProvider(
            baseURL: request.url, transport: ClosureTransport { _ in .just(answer) },
            middlewares: [Sending(request), LoggingMiddleware(.bodies, log: log.append)])
        shown += texts("response", answer) + texts("provider", provider)
        do { _ = try await provider.request(Self.endpoint).value } catch {
            shown += texts("error", error) + texts("NSError", error as NSError) + [("localized", error.localizedDescription)]
        }
        let exchanges = Log<Exchange>()
        let exchanging = ExchangeTransport { exchange in
            exchanges.append(exchange)
            exchange.complete(with: URLError(.timedOut))
            return Disposables.create()
        }
        _ = try? await exchanging.send(request).value
        for exchange in exchanges.entries { shown += texts("exchange", exchange) }
        return shown + texts("exchange transport", exchanging) + [("log", log.entries.joined(separator: "\n"))]
    }

    /// All that the mock may show of a request.
    private func reports(on request: PreparedRequest) async throws -> [(String, String)] {
        try await MockURLProtocol.withScope {
            let other = "[\(String(decoding: try request.body?.data() ?? Data(), as: UTF8.self))]"
            let headers = request.headers.map { (key: $0.name, value: "other") }
            MockURLProtocol.stub(
                .put, "/other", query: ["a": "b"], headers: HTTPHeaders(headers), body: .json(text: other), respond: .status(200))
            MockURLProtocol.stub(.put, "/other", body: .form(["a": "b"]), respond: .status(200))
            MockURLProtocol.stub(.put, "/other", body: .data(Data("\(other)x".utf8)), respond: .status(200))
            let error = try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(transport: MockTransport(), middlewares: [Sending(request)]).request(Self.endpoint).value
            }
            let report = try request.url.user == nil ? #require(error.underlying) : error
            return texts("report", report) + texts("unmatched", MockURLProtocol.unmatchedRequests)
        }
    }

    /// No endpoint has a user in its URL, but a middleware may put one there.
    private static let endpoint = Endpoint<[Int]>(.get, .url(example))

    private func texts(_ name: String, _ value: Any) -> [(String, String)] {
        var dumped = ""
        dump(value, to: &dumped)
        return [(name, "\(value)"), ("\(name), debug", String(reflecting: value)), ("\(name), dump", dumped)]
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
        let answer = APIResponse(to: request, headers: HTTPHeaders(headers), data: body ?? Data())
        return (request, answer)
    }
}
