import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Responses and errors", tenMinutes)
struct ResponseTests {
    struct Search: Decodable, Sendable {
        struct Owner: Decodable, Sendable { let login: String }
        struct Item: Decodable, Sendable {
            let name: String
            let owner: Owner
        }
        let items: [Item]
    }

    struct Unreadable: Sendable, CustomTestStringConvertible {
        let body: String
        var type: String? = "application/json; charset=utf-8"
        let finding: String
        var testDescription: String { finding }
    }

    @Test(
        "A body that is not what was expected says where and what it is",
        arguments: [
            Unreadable(
                body: #"{"items":[{"name":"a","owner":{"login":"b"}},{"name":null,"owner":{"login":"b"}}]}"#,
                finding: "the body is not Search: expected String at items[1].name, found null (application/json, 82 bytes)."),
            Unreadable(
                body: #"{"items":[{"name":"a","owner":{"login":true}}]}"#,
                finding: "the body is not Search: expected String at items[0].owner.login, found a boolean (application/json, 47 bytes)."),
            Unreadable(
                body: #"{"items":[{"name":"a","owner":{"login":1}}]}"#,
                finding: "the body is not Search: expected String at items[0].owner.login, found a number (application/json, 44 bytes)."),
            Unreadable(
                body: #"{"items":[{"name":"a","owner":{}}]}"#,
                finding: "the body is not Search: items[0].owner.login is missing (application/json, 35 bytes)."),
            Unreadable(
                body: "[]",
                finding: "the body is not Search: expected an object at the top level, found an array (application/json, 2 bytes)."),
            Unreadable(body: "", finding: "the body is empty where Search was expected (application/json, 0 bytes)."),
            Unreadable(
                body: "<html>Sorry</html>", type: "text/html",
                finding: "the body is not Search: expected JSON, found HTML or XML (text/html, 18 bytes)."),
        ])
    func unreadable(row: Unreadable) async throws {
        let error = try await failure(
            of: Endpoint<Search>(.get, "/search", query: ["q": "s3cret"]), status: 200, body: row.body, type: row.type)
        guard case .decoding(_, "Search", let underlying) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(underlying is DecodingError)
        #expect(error.description == "GET https://api.example.com/search?q=… returned 200, but " + row.finding)
    }

    @Test("JSON that opens more brackets than are taken is an error", arguments: [511, 512, 513, 514], ["[", "{\"a\":{", "", "\r"])
    func deep(count: Int, end: String) throws {
        let body = Data((String(repeating: "[", count: count) + end).utf8)
        #expect(throws: APIError.self) { try APIResponse(to: PreparedRequest("GET"), data: body).decode(Search.self) }
    }

    @Test(
        "A number that does not fit its type is not called invalid JSON",
        arguments: [#"{"count":300}"#, #"{"count":1.5}"#, #"{"count":123456789012345678901234567890}"#])
    func misfits(body: String) throws {
        struct Small: Decodable { let count: Int8 }
        let error = #expect(throws: APIError.self) { try APIResponse(to: PreparedRequest("GET"), data: Data(body.utf8)).decode(Small.self) }
        let sentence = try #require(error?.description)
        #expect(sentence.contains("the body is not Small: ") && !sentence.contains("valid JSON"), "\(sentence)")
    }

    /// Counts how often it is decoded.
    private struct Event: Decodable {
        @TaskLocal static var log = Log<Void>()
        let date: Date

        init(from decoder: any Decoder) throws {
            Event.log.append(())
            date = try decoder.container(keyedBy: CodingKeys.self).decode(Date.self, forKey: .date)
        }

        private enum CodingKeys: CodingKey { case date }
    }

    @Test("A body that does not fit is decoded once, whatever is in it")
    func decodedOnce() {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let siblings = (0..<1000).map { "\"k\($0)\":\"x\"" }.joined(separator: ",")
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { .just(APIResponse(to: $0, data: Data("{\(siblings),\"date\":\"x\"}".utf8))) },
            decoder: decoder)
        let (log, errors) = (Log<Void>(), Log<any Error>())
        Event.$log.withValue(log) { _ = provider.request(Endpoint<Event>(.get, "")).subscribe(onFailure: { errors.append($0) }) }
        #expect(log.count == 1)
        #expect(errors.entries.map { "\($0)" }.first?.contains("the body is not Event: ") == true)
    }

    private static let hostile: [(name: String, body: @Sendable (Int) -> String)] = [
        ("brackets", { String(repeating: "[", count: $0 / 10) + String(repeating: "0,", count: $0) }),
        ("brackets within limits", { String(repeating: "[", count: 400) + String(repeating: "0,", count: $0) }),
        ("siblings of a wrong value", { #"{"kind":"x"\#(String(repeating: #","a":"b""#, count: $0))}"# }),
        ("a long value", { #"{"kind":"\#(String(repeating: "x", count: 10 * $0))"}"# }),
        ("a long name", { #"{"\#(String(repeating: "x", count: 10 * $0))":1}"# }),
        ("a number that does not fit", { #"{"kind":1,"n":1.5\#(String(repeating: #","a":1"#, count: $0))}"# }),
    ]

    @Test("The time to explain a body grows with its size, and not faster", .longComputing, arguments: hostile.indices)
    func costOfExplaining(index: Int) {
        enum Kind: String, Decodable { case known }
        struct Typed: Decodable { let n: Int?, kind: Kind }
        let isSlow = !isLinear(5_000) { count in
            let response = APIResponse(to: PreparedRequest("GET"), data: Data(Self.hostile[index].body(count).utf8))
            return cpuSeconds {
                let error = #expect(throws: APIError.self) { try response.decode(Typed.self) }
                #expect((error?.description.utf8.count ?? .max) < 400)
            }
        }
        #expect(!isSlow, "\(Self.hostile[index].name)")
    }

    @Test("An error without a place stays as it is")
    func unplaced() {
        struct Picky: Decodable {
            init(from decoder: any Decoder) throws {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "It is never right."))
            }
        }
        let error = #expect(throws: APIError.self) {
            try APIResponse(to: PreparedRequest("GET"), data: Data("[1]".utf8)).decode(Picky.self)
        }
        #expect(error?.description.contains("the body is not Picky: It is never right (3 bytes)") == true)
    }

    @Test("The error of text that is not JSON says so")
    func noJSON() async throws {
        let error = try await failure(of: Endpoint<Search>(.get, ""), status: 200, body: "{\"items\":", type: nil)
        #expect(error.description.hasPrefix("GET https://api.example.com returned 200, but the body is not Search: it is not valid JSON"))
    }

    @Test("The status comes before the body", arguments: [199, 300, 304, 404, 500, 599])
    func status(code: Int) async throws {
        let error = try await failure(of: Endpoint<Search>(.get, ""), status: code, body: "<html>", type: "text/html")
        guard case .unacceptableStatus(let response) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(response.statusCode == code)
        #expect(error.statusCode == code)
    }

    @Test("Every status from 200 to 299 is decoded", arguments: [200, 201, 206, 299])
    func success(code: Int) async throws {
        #expect(try await provider(status: code, body: #"{"id":1,"name":"a"}"#).request(Endpoint<Item>(.get, "")).value.id == 1)
    }

    @Test("What the server says is cut to 200 bytes, on one line")
    func serverWords() async throws {
        for (count, words) in [(200, String(repeating: "a", count: 200)), (201, String(repeating: "a", count: 197) + "…")] {
            let body = String(repeating: "a", count: count) + "\n"
            let error = try await failure(of: Endpoint<Search>(.get, ""), status: 400, body: body, type: "text/plain; charset=utf-8")
            #expect(
                error.description
                    == "GET https://api.example.com failed: 400 Bad Request: \"\(words)\" (text/plain, \(count + 1) bytes).")
        }
        let error = try await failure(of: Endpoint<Search>(.get, ""), status: 400, body: "", type: "text/plain")
        #expect(error.description == "GET https://api.example.com failed: 400 Bad Request.")
    }

    @Test("An error has a URLError if it comes from a loading system, and says what it says of itself")
    func underlyingErrors() {
        struct Described: LocalizedError { let errorDescription: String? = "it is Sunday" }
        func error(_ underlying: any Error) -> APIError { .transport(PreparedRequest("GET"), underlying: underlying) }
        #expect(error(URLError(.timedOut)).urlError?.code == .timedOut)
        #expect(error(NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut)).urlError?.code == .timedOut)
        #expect(error(NSError(domain: "other", code: NSURLErrorTimedOut)).urlError == nil)
        #expect(error(Described()).description.hasSuffix(" failed: it is Sunday"))
        for (url, server) in [("https://h", "h:443"), ("http://h", "h:80"), ("http://h:8080", "h:8080")] {
            let error = APIError.transport(PreparedRequest(.get, URL(string: url)!), underlying: URLError(.cannotConnectToHost))
            #expect(error.description.contains("is a server listening at \(server)?"))
        }
    }

    @Test("No printed form of an error shows a header, a query value or a password")
    func redaction() async throws {
        let request = Endpoint<Search>(
            .get, .url(URL(string: "https://user:s3cret@api.example.com/x?key=s3cret")!), query: ["q": "s3cret"],
            headers: ["Authorization": "Bearer s3cret", "Cookie": "a=s3cret"])
        let errors = [
            try await failure(of: request, status: 500, body: #"{"token":"s3cret"}"#, type: nil),
            try await failure(of: request, status: 200, body: "[]", type: nil),
            try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(
                    baseURL: example, transport: ClosureTransport { .error(APIError.transport($0, underlying: URLError(.timedOut))) }
                )
                .request(request).value
            },
        ]
        for error in errors {
            var dumped = ""
            dump(error, to: &dumped)
            let forms = [
                "\(error)", String(reflecting: error), error.localizedDescription, (error as NSError).localizedDescription, dumped,
                "\([error])",
            ]
            for form in forms { #expect(!form.contains("s3cret"), "\(form)") }
        }
    }

    @Test("What a response says in an error's sentence begins no line, commands no terminal, and is cut")
    func hostileValues() {
        enum Kind: String, Decodable { case known }
        let long = String(repeating: "x", count: 10_000)
        for (body, type) in [
            (#"{"kind":"a\n\u001B[31m\#(long)"}"#, "application/json"), (#"{"kind\n\u001B[31m":1}"#, "application/json"),
            ("{}[", "a\u{1B}[31m/b"),
        ] {
            let response = APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": type], data: Data(body.utf8))
            let error = #expect(throws: APIError.self) { try response.decode([String: Kind].self) }
            let sentence = error?.description ?? ""
            #expect(sentence.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(sentence)")
            #expect(sentence.utf8.count < 400, "\(sentence)")
        }
    }

    @Test("A server that is not trusted by the session's delegate is not said to be another fault")
    func cancelledBySession() {
        let error = APIError.transport(PreparedRequest("GET", "https://h/"), underlying: URLError(.cancelled))
        let reason = "the session cancelled it, as it does when its delegate does not trust the server"
        #expect(error.description == "GET https://h/ failed: \(reason) (URLError -999).")
    }

    @Test("A response that is printed shows no header, query value or body")
    func printedResponse() {
        let response = APIResponse(
            to: PreparedRequest("GET", "https://api.example.com/items?q=s3cret", headers: ["Authorization": "s3cret"]),
            headers: ["Set-Cookie": "s3cret"], data: Data("s3cret".utf8))
        var dumped = ""
        dump(response, to: &dumped)
        for form in ["\(response)", String(reflecting: response), dumped, "\(SingleEvent.success(response))"] {
            #expect(form.contains("GET https://api.example.com/items?q=…: 200 OK, 6 bytes"))
            #expect(!form.contains("s3cret"), "\(form)")
        }
    }

    @Test("What Foundation says of a failed request shows no query value either")
    func redactionOfRealErrors() async throws {
        let request = Endpoint<Search>(.get, .url(try LoopbackServer.refusingURL()), query: ["token": "s3cret"])
        let error = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(baseURL: example, configuration: .ephemeral).request(request).value
        }
        var dumped = ""
        dump(error as NSError, to: &dumped)
        let underlying = try #require((error as NSError).userInfo[NSUnderlyingErrorKey])
        for form in ["\(error)", "\(error as NSError)", String(reflecting: error as NSError), dumped, "\(underlying)"] {
            #expect(!form.contains("s3cret"), "\(form)")
        }
        #expect((error as NSError).userInfo[NSUnderlyingErrorKey] is URLError)
    }

    @Test("The underlying error of an NSError has the words of a URLError, and not the URL that failed")
    func underlyingWords() throws {
        // Of letters alone, which no rule for words hides.
        let url = try #require(URL(string: "https://api.example.com/?token=letters"))
        let userInfo: [String: Any] = [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: "the line is cut"]
        let error = APIError.transport(PreparedRequest(.get, url), underlying: URLError(.networkConnectionLost, userInfo: userInfo))
        let underlying = try #require((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error)
        #expect(underlying.localizedDescription == "the line is cut")
        #expect(!"\(error as NSError) \(underlying)".contains("letters"))
    }

    @Test(
        "A URL for people has no values in it",
        arguments: [
            ("https://h/p?=s3cret", "https://h/p?=…"), ("https://h/p?s3cret", "https://h/p?…"),
            ("https://u:s3cret@h:1/p#s3cret", "https://h:1/p"),
            ("https://h/p?a=s3cret&b", "https://h/p?a=…&…"), ("u:s3cret@h", "u:…"),
        ])
    func redactedURL(url: String, text: String) async throws {
        let request = PreparedRequest(.get, try #require(URL(string: url)))
        #expect("\(APIError.transport(request, underlying: TestError("t")))" == "GET \(text) failed: TestError(name: \"t\")")
    }

    @Test("The sentence is right for converted keys and for unknown raw values")
    func truth() async throws {
        struct Named: Decodable { let userName: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let snake = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { .just(APIResponse(to: $0, data: Data(#"{"user_name":"x"}"#.utf8))) },
            decoder: decoder)
        let converted = try await #require(throws: APIError.self) { try await snake.request(Endpoint<Named>(.get, "")).value }
        #expect(converted.description.hasSuffix("the body is not Named: expected Int at userName, found a string (17 bytes)."))
        enum Color: String, Decodable { case red }
        let error = try await failure(of: Endpoint<Color>(.get, ""), status: 200, body: #""zzz""#, type: nil)
        #expect(error.description.hasSuffix("the body is not Color: Cannot initialize Color from invalid String value … (5 bytes)."))
    }

    @Test("A value that does not fit is named by its kind, whatever the decoder says of it")
    func unknownValues() async throws {
        enum Word: String, Decodable { case known }
        struct Picky: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no <\(try container.decode(String.self))> here")
            }
        }
        struct Account: Decodable { let color: Word?, kind: Picky?, wordKind: Word? }
        for (body, finding) in [
            (#"{"color":"blue"}"#, "Cannot initialize Word from invalid String value … at color"),
            (#"{"color":"x"}"#, "Cannot initialize Word from invalid String value … at color"),
            (#"{"kind":"letters"}"#, "no <…> here at kind"), (#"{"kind":"two words"}"#, "no <…> here at kind"),
        ] {
            let error = try await failure(of: Endpoint<Account>(.get, ""), status: 200, body: body, type: nil)
            #expect(error.description.hasSuffix("the body is not Account: \(finding) (\(body.utf8.count) bytes)."), "\(error)")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let response = APIResponse(to: PreparedRequest("GET"), data: Data(#"{"word_kind":"letters"}"#.utf8)).with(decoder: decoder)
        let error = #expect(throws: APIError.self) { try response.decode(Account.self) }
        #expect(error?.description.contains("letters") == false)
    }

    private static let hint =
        "firstName is missing, but first_name is there: set the decoder's keyDecodingStrategy to .convertFromSnakeCase"

    @Test(
        "A missing key that is there in snake case is said to be, with what to do",
        arguments: [
            (#"{"first_name":"a"}"#, hint), (#"{"first_name":null}"#, hint),
            (#"{"FirstName":"a","name":"b"}"#, "firstName is missing"), ("{}", "firstName is missing"),
        ])
    func snakeCase(body: String, finding: String) async throws {
        struct Person: Decodable { let firstName: String }
        let error = try await failure(of: Endpoint<Person>(.get, ""), status: 200, body: body, type: nil)
        #expect(error.description.hasSuffix("the body is not Person: \(finding) (\(body.utf8.count) bytes)."), "\(error)")
        let list = try await failure(of: Endpoint<[Person]>(.get, ""), status: 200, body: "[\(body)]", type: nil)
        #expect(list.description.contains("[0].\(finding)"), "\(list)")
    }

    @Test("A URLError of a transport becomes an APIError, and its other errors stay")
    func transportErrors() async throws {
        for (error, isWrapped) in [(URLError(.notConnectedToInternet) as any Error, true), (TestError(), false)] {
            let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .error(error) })
            let thrown = try await #require(throws: (any Error).self) { try await provider.request(Endpoint<Item>(.get, "")).value }
            #expect((thrown is APIError) == isWrapped)
        }
    }

    @Test(
        "The value of a field comes without the white space around it (RFC 9110, section 5.5)",
        arguments: [("a", "a"), ("a  ", "a"), (" \t a, b\t ", "a, b"), ("  ", ""), ("", ""), ("\u{A0}a\u{3000}", "\u{A0}a\u{3000}")])
    func whiteSpace(sent: String, value: String) throws {
        let head = try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: ["X-A": sent]))
        let response = APIResponse(request: PreparedRequest(.get, example), response: head, data: Data())
        #expect(response.value(forHTTPHeaderField: "x-a") == value)
        #expect(head.headerFields.values.map { $0 } == [value])
    }

    @Test("Names of fields are equal if their bytes are, except for the case of ASCII letters (RFC 9110, section 5.1)")
    func fieldNames() {
        let composed = "X-\u{E9}", decomposed = "X-e\u{301}"
        let both = APIResponse(to: PreparedRequest(.get, example), headers: [composed: "1", decomposed: "2", "ETag": "3"])
        #expect(both.value(forHTTPHeaderField: "eTAG") == "3")
        #expect([composed, decomposed].compactMap { both.value(forHTTPHeaderField: $0) } == ["2"])
        let one = APIResponse(to: PreparedRequest(.get, example), headers: [composed: "1"])
        #expect(one.value(forHTTPHeaderField: "x-\u{E9}") == "1")
        for other in ["X-\u{C9}", decomposed] { #expect(one.value(forHTTPHeaderField: other) == nil) }
    }

    @Test("Data, String, Void and Optional come by their type, also in a request that is generic over it")
    func types() async throws {
        #expect(try await provider(body: "text").request(Endpoint<String>(.get, "")).value == "text")
        #expect(try await provider(body: "text").request(Endpoint<Data>(.get, "")).value == Data("text".utf8))
        try await provider(body: "<html>").request(Endpoint<Void>(.get, "")).value
        #expect(try await provider(body: "").request(Endpoint<Item?>(.get, "")).value == nil)
        #expect(try await provider(body: "null").request(Endpoint<Item?>(.get, "")).value == nil)
        #expect(try await provider(body: #"{"id":1,"name":"a"}"#).request(Endpoint<Item?>(.get, "")).value == Item(id: 1, name: "a"))
        #expect(try await provider(body: "text").request(Endpoint<String?>(.get, "")).value == "text")
    }

    @Test(
        "Text is read by its charset, which is UTF-8 unless the Content-Type has another",
        arguments: [
            ("text/plain", Data("né".utf8)), ("text/plain; charset=UTF-8", Data("né".utf8)),
            ("text/plain; charset=\"utf-8\"", Data("né".utf8)),
            ("text/plain; charset=ISO-8859-1", Data([0x6E, 0xE9])), ("text/plain;charset=latin1", Data([0x6E, 0xE9])),
            ("text/plain; charset=windows-1252", Data([0x6E, 0xE9])), ("text/plain; charset=utf-16le", Data([0x6E, 0, 0xE9, 0])),
            ("text/plain; charset=utf-16be", Data([0, 0x6E, 0, 0xE9])), ("text/plain; charset=UTF-16", Data([0, 0x6E, 0, 0xE9])),
            ("text/plain; charset=UTF-16", Data([0xFF, 0xFE, 0x6E, 0, 0xE9, 0])),
            ("text/plain; charset=UTF-16", Data([0xFE, 0xFF, 0, 0x6E, 0, 0xE9])), ("text/plain; charset=koi8-r", Data("né".utf8)),
        ])
    func charset(type: String, body: Data) throws {
        let response = APIResponse(to: PreparedRequest(.get, example), headers: ["Content-Type": type], data: body)
        #expect(try response.decode(String.self) == "né")
        #expect(try Endpoint<String>(.get, "").value(of: response) == "né")
    }

    @Test(
        "Text that does not fit its charset says so",
        arguments: [
            ("text/plain", "it is not UTF-8 text"),
            ("text/plain; charset=koi8-r", "it is not UTF-8 text, and its charset koi8-r is not known here"),
            ("text/plain; charset=utf-16", "it is not utf-16 text"),
        ])
    func wrongCharset(type: String, reason: String) throws {
        let response = APIResponse(to: PreparedRequest(.get, example), headers: ["Content-Type": type], data: Data([0xEE, 0xD8, 0xC1]))
        let error = try #require(throws: APIError.self) { try response.decode(String.self) }
        #expect(
            error.description == "GET https://api.example.com returned 200, but the body is not String: \(reason) (text/plain, 3 bytes).")
    }

    @Test("A DecodingError of a request's own decode is explained like the default's")
    func ownDecode() async throws {
        let own = Endpoint(.get, "") { try JSONDecoder().decode([String: Int].self, from: $0.data) }
        let error = try await #require(throws: APIError.self) { try await provider(body: #"{"a":"b"}"#).request(own).value }
        #expect(error.description.contains("expected Int at a, found a string"))
    }

    @Test("Middlewares wrap the transport, the first outermost")
    func middlewares() async throws {
        struct Mark: Middleware {
            let name: String
            let log: Log<String>
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                var request = request
                request.headers["X-Marks"] = (request.headers["X-Marks"] ?? "") + name
                return next(request).do(onSuccess: { _ in log.append(name) })
            }
        }
        let log = Log<String>()
        let transport = ClosureTransport { request in
            .just(APIResponse(to: request, data: Data((request.headers["X-Marks"] ?? "").utf8)))
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport, middlewares: [Mark(name: "a", log: log), Mark(name: "b", log: log)])
        #expect(try await provider.request(Endpoint<String>(.get, "")).value == "ab")
        #expect(log.entries == ["b", "a"])
    }

    private func provider(status: Int = 200, body: String, type: String? = nil) -> DefaultAPIProvider {
        DefaultAPIProvider(
            baseURL: example,
            transport: ClosureTransport {
                .just(APIResponse(to: $0, status: status, headers: ["Content-Type": type], data: Data(body.utf8)))
            })
    }

    private func failure<Response>(
        of request: Endpoint<Response>, status: Int, body: String, type: String?
    ) async throws -> APIError {
        try await #require(throws: APIError.self) { try await provider(status: status, body: body, type: type).request(request).value }
    }
}
