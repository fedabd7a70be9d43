import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Responses and errors", tenMinutes)
struct ResponseTests {
    private struct Search: Decodable, Sendable {
        struct Owner: Decodable, Sendable { let login: String }
        struct Item: Decodable, Sendable {
            let name: String
            let owner: Owner?
        }
        let items: [Item]
    }

    private struct Person: Decodable { let firstName: String }
    private enum Color: String, Decodable { case red }
    private struct Account: Decodable { let color: Color?, name: Picky?, userName: Int?, colorOfCar: Color? }

    /// Does not accept any text.
    private struct Picky: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no <\(try container.decode(String.self))> here")
        }
    }

    /// Has an error without a place.
    private struct Never: Decodable {
        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "It is never right."))
        }
    }

    struct Unreadable: Sendable, CustomTestStringConvertible {
        let body: String
        let finding: String
        let decode: @Sendable (APIResponse) throws -> Void
        var testDescription: String { finding }

        init(_ body: String, as type: (some Decodable & Sendable).Type, isSnakeCase: Bool = false, _ finding: String) {
            (self.body, self.finding) = (body, finding)
            decode = { response in
                let decoder = JSONDecoder()
                if isSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
                _ = try response.with(decoder: decoder).decode(type)
            }
        }
    }

    private static let hint = "firstName is missing; for first_name, the decoder needs the keyDecodingStrategy .convertFromSnakeCase"

    @Test(
        "The error of an unexpected body says where it differs and how, and shows no value",
        arguments: [
            Unreadable(#"{"items":[{"name":"a"},{"name":null}]}"#, as: Search.self, "expected String at items[1].name, found null (a/b"),
            Unreadable(#"{"items":[{"name":true}]}"#, as: Search.self, "expected String at items[0].name, found a boolean"),
            Unreadable(#"{"items":[{"name":1}]}"#, as: Search.self, "expected String at items[0].name, found a number"),
            Unreadable(#"{"items":[{"name":"a","owner":{}}]}"#, as: Search.self, "items[0].owner.login is missing"),
            Unreadable("[]", as: Search.self, "expected an object at the top level, found an array"),
            Unreadable("", as: Search.self, "the body is empty where ResponseTests.Search was expected (a/b, 0 bytes)."),
            Unreadable("<html>Sorry</html>", as: Search.self, "the body is not ResponseTests.Search: it is not valid JSON"),
            Unreadable("{\"items\":", as: Search.self, "the body is not ResponseTests.Search: it is not valid JSON"),
            Unreadable("[1]", as: Never.self, "the body is not ResponseTests.Never: a value in it is not valid (a/b, 3 bytes)."),
            Unreadable(#""zzz""#, as: Color.self, "the body is not ResponseTests.Color: a value in it is not valid (a/b"),
            Unreadable(#"{"color":"x"}"#, as: Account.self, "the value at color is not valid (a/b"),
            Unreadable(#"{"color_of_car":"x"}"#, as: Account.self, isSnakeCase: true, "the value at colorOfCar is not valid (a/b"),
            Unreadable(
                #"{"name":"two words"}"#, as: Account.self, "the body is not ResponseTests.Account: the value at name is not valid (a/b"),
            Unreadable(#"{"user_name":"x"}"#, as: Account.self, isSnakeCase: true, "expected Int at userName, found a string (a/b"),
            // The name in the model: only the body knows how it is spelled there.
            Unreadable(#"{"userName":"x"}"#, as: Account.self, isSnakeCase: true, "expected Int at userName, found a string (a/b"),
            Unreadable("{}", as: Person.self, isSnakeCase: true, "\(hint) (a/b"),
            Unreadable(#"{"first_name":"a"}"#, as: Person.self, "the body is not ResponseTests.Person: \(hint) (a/b"),
            Unreadable(#"{"first_name":null}"#, as: Person.self, "the body is not ResponseTests.Person: \(hint) (a/b"),
            Unreadable(#"[{"first_name":"a"}]"#, as: [Person].self, "[0].\(hint) (a/b"),
        ])
    func unreadable(row: Unreadable) throws {
        let request = PreparedRequest("GET", "https://api.example.com/search?q=s3cret")
        let response = APIResponse(to: request, headers: ["Content-Type": "a/b; charset=utf-8"], data: Data(row.body.utf8))
        let error = try #require(throws: APIError.self) { try row.decode(response) }
        #expect(error.description.hasPrefix("GET https://api.example.com/search?q=… returned 200, but "))
        #expect(error.description.contains(row.finding), "\(error)")
        guard case .decoding(_, _, let underlying) = error else { throw error }
        #expect(underlying is DecodingError)
    }

    private func sentence(_ type: (some Decodable).Type, _ body: String, contentType: String? = nil) -> String {
        let response = APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": contentType], data: Data(body.utf8))
        return #expect(throws: APIError.self) { try response.decode(type) }?.description ?? ""
    }

    @Test("JSON that opens more brackets than are accepted is an error", arguments: [511, 512, 513, 514], ["[", "{\"a\":{", "", "\r"])
    func deep(count: Int, end: String) {
        #expect(sentence(Search.self, String(repeating: "[", count: count) + end) != "")
    }

    @Test(
        "So is such JSON in UTF-16 and UTF-32, which a decoder reads, too",
        arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian],
        ["", "\r", "\r\r", "{"])
    func deepInOtherEncoding(encoding: String.Encoding, end: String) throws {
        for count in [511, 512, 513, 514] {
            let body = try #require((String(repeating: "[", count: count) + end).data(using: encoding))
            let response = APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": "application/json"], data: body)
            #expect(throws: APIError.self) { try response.decode(Search.self) }
        }
    }

    @Test(
        "A number that does not fit its type is named as a possible problem", arguments: ["300", "1.5", "123456789012345678901234567890"])
    func misfits(number: String) {
        let sentence = sentence([String: Int8].self, "{\"count\":\(number)}")
        #expect(sentence.contains("the body is not Dictionary") && sentence.contains("a number does not fit its type"), "\(sentence)")
    }

    private static let hostile: [(name: String, body: @Sendable (Int) -> String)] = [
        ("brackets", { String(repeating: "[", count: $0 / 10) + String(repeating: "0,", count: $0) }),
        ("brackets within limits", { String(repeating: "[", count: 400) + String(repeating: "0,", count: $0) }),
        ("siblings of a wrong value", { #"{"kind":"x"\#(String(repeating: #","a":"b""#, count: $0))}"# }),
        ("a long value", { #"{"kind":"\#(String(repeating: "x", count: 10 * $0))"}"# }),
        ("a long name", { #"{"\#(String(repeating: "x", count: 10 * $0))":1}"# }),
        ("a number that does not fit", { #"{"kind":1,"n":1.5\#(String(repeating: #","a":1"#, count: $0))}"# }),
    ]

    @Test("The time to explain a body is linear in its size, and the sentence is short", .longComputing, arguments: hostile.indices)
    func costOfExplaining(index: Int) {
        struct Typed: Decodable { let n: Int?, kind: Color }
        let isFast = isLinear(5_000) { count in
            let body = Self.hostile[index].body(count)
            return cpuSeconds { #expect(sentence(Typed.self, body).utf8.count < 400) }
        }
        #expect(isFast, "\(Self.hostile[index].name)")
    }

    @Test(
        "Values from a response cannot start a line of the error or control a terminal",
        arguments: [(#"{"kind":"a\n\u001B[31m"}"#, nil), (#"{"kind\n\u001B[31m":1}"#, nil), ("{}[", "a\u{1B}[31m/b")] as [(String, String?)]
    )
    func hostileValues(body: String, type: String?) {
        let sentence = sentence([String: Color].self, body, contentType: type)
        #expect(sentence != "" && sentence.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(sentence)")
    }

    @Test(
        "A status from 200 to 299 is decoded, and another is an error, whatever the body is",
        arguments: [(199, false), (200, true), (201, true), (299, true), (300, false), (304, false), (404, false), (599, false)])
    func status(code: Int, isAccepted: Bool) {
        let body = isAccepted ? #"{"id":1,"name":"a"}"# : "<html>"
        let response = APIResponse(to: PreparedRequest("GET"), statusCode: code, data: Data(body.utf8))
        let result = Result { try Endpoint<Item>(.get, "").value(of: response) }
        #expect((try? result.get()) == (isAccepted ? Item(id: 1, name: "a") : nil))
        if case .failure(let error) = result { #expect((error as? APIError)?.statusCode == code) }
    }

    private struct Described: LocalizedError { let errorDescription: String? = "it is Sunday" }

    @Test(
        "The error of a failed request shows a URL without secrets, and the underlying error's words",
        arguments: [
            ("https://h/p?=s3cret", TestError("t"), "GET https://h/p?=… failed: TestError(name: \"t\")"),
            ("https://h/p?s3cret", Described(), "GET https://h/p?… failed: it is Sunday"),
            ("https://u:s3cret@h:1/p#s3cret", Described(), "GET https://h:1/p failed: it is Sunday"),
            ("https://h/p?a=s3cret&b", Described(), "GET https://h/p?a=…&… failed: it is Sunday"),
            ("u:s3cret@h", Described(), "GET u:… failed: it is Sunday"),
            ("https://h", URLError(.cannotConnectToHost), "is a server listening at h:443?"),
            ("http://h", URLError(.cannotConnectToHost), "is a server listening at h:80?"),
            ("http://h:8080", URLError(.cannotConnectToHost), "is a server listening at h:8080?"),
            ("http+unix://%2Ftmp%2Fa.sock/p", URLError(.cannotConnectToHost), "is a server listening at /tmp/a.sock?"),
            ("https+unix://%2Ftmp%2Fa.sock/p", URLError(.timedOut), "is /tmp/a.sock up,"),
            ("https://h/", URLError(.timedOut), "it timed out; is h:443 up, and is the timeout long enough? (URLError -1001)."),
            (
                "https://h/", URLError(.cancelled),
                "the session cancelled it, as it does when its delegate does not trust the server (URLError -999)."
            ),
        ] as [(String, any Error, String)])
    func transport(url: String, underlying: any Error, sentence: String) {
        let error = APIError.transport(PreparedRequest("GET", url), underlying: underlying)
        #expect(error.description.contains(sentence), "\(error)")
    }

    @Test("An error has a URLError if the underlying error is in its domain, and a transport's URLError becomes an APIError")
    func urlErrors() async throws {
        let code = NSURLErrorTimedOut
        for (underlying, isOne) in [
            (URLError(.timedOut), true), (NSError(domain: NSURLErrorDomain, code: code), true), (NSError(domain: "x", code: code), false),
        ] as [(any Error, Bool)] {
            #expect((APIError.transport(PreparedRequest("GET"), underlying: underlying).urlError?.code == .timedOut) == isOne)
        }
        for (error, isWrapped) in [(URLError(.notConnectedToInternet) as any Error, true), (TestError(), false)] {
            let request = Answers(.error(error)).provider().request(Endpoint<Item>(.get, ""))
            let thrown = try await #require(throws: (any Error).self) { try await request.value }
            #expect((thrown is APIError) == isWrapped)
        }
    }

    @Test("The NSError of a failed request has a URLError's words, and does not show the URL, also if Foundation made it")
    func underlyingError() async throws {
        // The secret has letters only, which no rule for words hides.
        let url = try #require(URL(string: "https://api.example.com/?token=letters"))
        let userInfo: [String: Any] = [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: "the line is cut"]
        let made = APIError.transport(PreparedRequest(.get, url), underlying: URLError(.networkConnectionLost, userInfo: userInfo))
        let request = Endpoint<Void>(.get, .url(try LoopbackServer.refusingURL()), query: ["token": "letters"])
        let real = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(baseURL: example, configuration: .ephemeral).request(request).value
        }
        for error in [made as NSError, real as NSError] {
            let underlying = try #require(error.userInfo[NSUnderlyingErrorKey] as? URLError)
            for form in ["\(error)", String(reflecting: error), "\(error.userInfo)", "\(underlying)"] {
                #expect(!form.contains("letters"), "\(form)")
            }
            if error === made as NSError { #expect(underlying.localizedDescription == "the line is cut") }
        }
    }

    @Test(
        "The value of a field comes without the white space around it (RFC 9110, section 5.5)",
        arguments: [("a", "a"), ("a  ", "a"), (" \t a, b\t ", "a, b"), ("  ", ""), ("", ""), ("\u{A0}a\u{3000}", "\u{A0}a\u{3000}")])
    func whiteSpace(sent: String, value: String) throws {
        let head = try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: ["X-A": sent]))
        let response = APIResponse(request: PreparedRequest(.get, example), httpResponse: head, data: Data())
        #expect(response.headers["x-a"] == value)
        #expect(head.headerFields.values.map { $0 } == [value])
    }

    @Test("Names of fields are equal if their bytes are, except for the case of ASCII letters (RFC 9110, section 5.1)")
    func fieldNames() {
        let composed = "X-\u{E9}", decomposed = "X-e\u{301}"
        let both = APIResponse(to: PreparedRequest(.get, example), headers: [composed: "1", decomposed: "2", "ETag": "3"])
        #expect(both.headers["eTAG"] == "3")
        #expect([composed, decomposed].compactMap { both.headers[$0] } == ["2"])
    }

    #if canImport(FoundationNetworking)
    // Foundation joins them itself on Apple's systems.
    @Test("Fields whose names differ only in case are one field, with all values")
    func severalFields() throws {
        let fields = ["X-One": "1", "x-one": "2", "X-Two": "3"]
        let head = try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: fields))
        let headers = APIResponse(request: PreparedRequest(.get, example), httpResponse: head, data: Data()).headers
        #expect(headers.map { "\($0.name): \($0.value)" } == ["X-One: 1, 2", "X-Two: 3"])
    }
    #endif

    @Test("The type decides between Data, String, Void, Optional and JSON")
    func types() async throws {
        func value<Response>(_ endpoint: Endpoint<Response>, _ body: String) async throws -> Response {
            try await Answers(.status(200, body: body)).provider().request(endpoint).value
        }
        #expect(try await value(Endpoint<String>(.get, ""), "text") == "text")
        #expect(try await value(Endpoint<String?>(.get, ""), "text") == "text")
        #expect(try await value(Endpoint<Data>(.get, ""), "text") == Data("text".utf8))
        try await value(Endpoint<Void>(.get, ""), "<html>")
        for (body, item) in [("", nil), ("null", nil), (#"{"id":1,"name":"a"}"#, Item(id: 1, name: "a"))] {
            #expect(try await value(Endpoint<Item?>(.get, ""), body) == item)
        }
    }
}
