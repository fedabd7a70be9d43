import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

private let x49 = String(repeating: "x", count: 49)
private let token = "4c39Hqly9WDarj"
private let x50 = String(repeating: "x", count: 50)
private let x200 = String(repeating: "x", count: 200)

private func posting(_ body: Data) -> Endpoint<String> {
    Endpoint(.post, "/a", body: .data(body, contentType: "text/plain"))
}

@Suite("The report of a request without an answer", tenMinutes)
struct UnansweredReportTests {
    /// The report of `request` in a scope with the stubs that `stub` makes.
    private func report(of request: Endpoint<String>, stub: @Sendable () async -> Void = {}) async throws -> String {
        try await MockURLProtocol.withScope("the issues of a repository") {
            await stub()
            let error = try await mocked.failure(of: request)
            return "\(try #require(error.underlying))"
        }
    }

    @Test("The sentence for people has it, too, because XCTest prints that", arguments: Way.allCases)
    func localized(way: Way) async throws {
        try await MockURLProtocol.withScope {
            let error = try await way.provider.failure(of: Endpoint<String>(.get, "/a"))
            #expect(error.localizedDescription.contains("has no answer for this request"))
            #expect(error.localizedDescription.contains("GET https://api.example.com/a"))
        }
    }

    /// The lines without their indentation.
    private func lines(of report: String) -> String {
        report.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("It is the same as in the article")
    func article() async throws {
        let request = Endpoint<String>(.get, "/repos/apple/swift/issues", query: ["state": "open", "access_token": "s3cret"])
        let report = try await report(of: request) {
            MockURLProtocol.stub(.get, "/user", fileID: "GitHubTests/IssuesTests.swift", line: 12, respond: .status(200))
            MockURLProtocol.stub(
                .get, "/repos/*/*/issues", query: ["state": "closed"], fileID: "GitHubTests/IssuesTests.swift", line: 13,
                respond: .status(200))
            MockURLProtocol.stub(
                .post, "/repos/apple/swift/issues", headers: ["Accept": "application/json"], body: .json(["title": "Crash"]),
                fileID: "GitHubTests/IssuesTests.swift", line: 14, respond: .status(201))
            MockURLProtocol.stub(
                .get, "/repos/apple/swift/issues", times: 1, fileID: "GitHubTests/IssuesTests.swift", line: 15, respond: .status(200))
            _ = try? await mocked.request(request).value
        }
        let article = try PackageFile("Sources/APIProviderMocks/APIProviderMocks.docc/WhenARequestHasNoAnswer.md")
        #expect(article.text.contains("```\n\(report)\n```\n"), "\(report)")
    }

    @Test(
        "It shows expected and actual values, without secrets",
        arguments: [
            (
                nil, ["authorization": "Bearer t0ken"], nil,
                "header  expected  authorization: Bearer …\ngot       authorization: Bearer … (differs, but is not shown)"
            ),
            (nil, ["x-kind": "One"], nil, "header  expected  x-kind: One\ngot       x-kind: one"),
            (nil, [:], .form(["name": "a", "password": "t0ken"]), "body    expected  name: \"a\", password: …\ngot       {\"user\":{"),
            (nil, [:], .matching("a form") { _ in false }, "body    expected  a form\ngot       {\"user\":{"),
            (
                ["q": ["a", "3\n4"], "token": "t0ken"], [:], nil,
                "query   expected  q=a&q=3 4\ngot       no q\nquery   expected  token=…\ngot       no token"
            ),
        ] as [(QueryParameters?, HTTPHeaders, BodyMatcher?, String)])
    func mismatches(query: QueryParameters?, headers: HTTPHeaders, body: BodyMatcher?, difference: String) async throws {
        let sent = HTTPBody.json(["user": ["name": "a", "password": "s3cret"]])
        let request = Endpoint<String>(.post, "/login", headers: ["Authorization": "Bearer s3cret", "X-Kind": "one"], body: sent)
        let report = try await report(of: request) {
            MockURLProtocol.stub(.post, "/login", query: query, headers: headers, body: body, respond: .status(200))
        }
        #expect(lines(of: report).contains(difference), "\(report)")
        #expect(!report.contains("s3cret") && !report.contains("t0ken"), "\(report)")
    }

    @Test(
        "It shows the first difference of two bodies on two lines",
        arguments: [
            // JSON, by the place of the difference.
            (.json(text: "[1]"), "[1,2]", "[1]: nothing", "[1]: 2"),
            (.json(text: #"{"a":[{"b":null}]}"#), #"{"a":[{"b":true}]}"#, "a[0].b: null", "a[0].b: true"),
            (.json(text: #"{"a":{}}"#), #"{"a":[]}"#, "a: an object", "a: an array of 0"),
            (.json(text: #"{"b":1,"a":1}"#), #"{"b":2}"#, "a: 1, b: 1", "a: nothing, b: 2"),
            (
                .json(text: #"{"a":1,"b":{"c":1,"d":[1]},"e":1}"#), #"{"a":2,"b":{"c":2,"d":[2]},"e":2}"#,
                "a: 1, b.c: 1, b.d[0]: 1, …", "a: 2, b.c: 2, b.d[0]: 2, …"
            ),
            (.json(containing: ["a": 1, "b": 1]), #"{"a":2,"b":2,"c":2}"#, "a: 1, b: 1", "a: 2, b: 2"),
            (.json(text: #"{"a":"x"}"#), #"{"a":"y\n"}"#, #"a: "x""#, #"a: "y\n""#),
            (.json(text: "[1.50]"), "[1.5e1]", "[0]: 1.50", "[0]: 1.5e1"), (.json(text: "[1]"), "{}", "[1]", "{}"),
            (.json(text: "no JSON"), "no JSON", "no JSON (this is not JSON, or is nested too deeply)", "no JSON"),
            (
                .json(text: #"{"user":{"token":"a"}}"#), #"{"user":{"token":"b"}}"#, "user.token: …",
                "user.token: … (differs, but is not shown)"
            ),
            (.json(text: #"{"a":"x"}"#), #"{"a":"Bearer \#(token)"}"#, #"a: "x""#, #"a: "Bearer \#(token)""#),
            (.json(text: "1"), String(repeating: "\n", count: 1020) + "word", "1", "word"), (.json(text: "1"), x200 + "x", "1", x200 + "…"),
            (.json(text: "1"), x200, "1", x200), (.json(text: "[\"\(x200)\"]"), "[\"\(x200)y\"]", "[0]: …\(x50)\"", "[0]: …\(x50)y\""),
            (.matching("m") { _ in false }, x200, "m", x200), (.matching("m") { _ in false }, x200 + "x", "m", x200 + "…"),
            // Text, with some of what surrounds the difference.
            (.text("\(x200)a\(x200)"), "\(x200)b\(x200)", "…\(x50)a\(x50)\(x50)\(x49)…", "…\(x50)b\(x50)\(x50)\(x49)…"),
            (.text(x200), x200 + "y", "…\(x50)", "…\(x50)y"), (.text("a\n\nb"), "a c", "a b", "a c"),
            (.text("a b"), "a\nb", #""a b""#, #""a\nb""#), (.text("a\u{200B}b"), "ab", #""a\u{200B}b""#, #""ab""#),
            (.text("caf\u{E9}"), "cafe\u{301}", #""caf\u{00E9}""#, #""cafe\u{0301}""#),
            (.text(#"{"token":"a"}"#), #"{"token":"b"}"#, #"{"token":"…"}"#, #"{"token":"…"} (differs, but is not shown)"#),
            (
                .text(String(repeating: "a ", count: 40_000)), String(repeating: "a ", count: 40_001), "80000 bytes, no byte 80000",
                "80002 bytes, byte 80000 is 0x61"
            ),
            (.data(Data([0xFF])), "a", "1 bytes that are not text, byte 0 is 0xFF", "a"),
            // Forms, by their parameters.
            (.form(["a": x200, "b": "1 2"]), "b=1+3&a=\(x200)", #"b: "1 2""#, #"b: "1 3""#),
            (.form(["a": "1"]), "a=1&c=2", "c: nothing", #"c: "2""#),
            (.form(["a": ["1", "2"]]), "a=2&a=1", #"a: ["1", "2"]"#, #"a: ["2", "1"]"#),
            (.form(["key": "1", "b": "1"]), "key=2&b=2", #"b: "1", key: …"#, #"b: "2", key: … (differs, but is not shown)"#),
        ] as [(BodyMatcher, String, String, String)])
    func bodies(matcher: BodyMatcher, body: String, expected: String, got: String) async throws {
        let report = try await report(of: posting(Data(body.utf8))) {
            MockURLProtocol.stub(.post, "/a", body: matcher, respond: .status(200))
        }
        #expect(report.contains("body    expected  \(expected)\n               got       \(got)\n"), "\(report)")
    }

    @Test(
        "Bodies that are not text differ at a byte",
        arguments: [([0xFF, 1], "byte 1 is 0x1"), ([0xFF], "no byte 1")] as [([UInt8], String)])
    func bytes(expected: [UInt8], difference: String) async throws {
        let report = try await report(of: posting(Data([0xFF, 0xA]))) {
            MockURLProtocol.stub(.post, "/a", body: .data(Data(expected)), respond: .status(200))
        }
        #expect(report.contains("body    expected  \(expected.count) bytes that are not text, \(difference)\n"), "\(report)")
        #expect(report.contains("got       2 bytes that are not text, byte 1 is 0xA\n"), "\(report)")
    }

    @Test("A stub without any answer says so, and names no newer stub")
    func noAnswers() async throws {
        for response in [StubResponse.sequence([]), .repeatingLast([])] {
            let report = try await report(of: posting(Data())) { MockURLProtocol.stub(.post, "/a", respond: response) }
            #expect(report.contains("matches, but its sequence was exhausted after 0 requests"), "\(report)")
        }
    }

    @Test(
        "What stands under the name of a secret shows neither in the request nor in a difference, whatever the notation of the body",
        arguments: [
            (HTTPBody.json(["user": ["password": "hunter2"], "note": "shown"]), BodyMatcher.json(["note": "x"])),
            (.form(["password": "hunter2", "note": "shown"]), .form(["note": "x"])),
            (
                .multipart([MultipartPart(name: "password", value: "hunter2"), MultipartPart(name: "note", value: "shown")]),
                .multipart(containing: ["note": .text("x"), "password": .text("y")])
            ),
            (
                .multipart([MultipartPart(name: "note", json: ["pin": "hunter2", "a": "shown"])]),
                .multipart(containing: ["note": .json(1)])
            ),
            (.json(["fields": [["name": "password", "value": "hunter2"], ["name": "note", "value": "shown"]]]), .json(["fields": []])),
            (.json(["query": "mutation { login(note: \"shown\", password: \"hunter2\") { id } }"]), .json(["query": "x"])),
            (.json(["query": "mutation { login(in: {note: \"shown\", pin: 4711, secret: \"\"\"hunter2\"\"\"}) }"]), .json(["query": "x"])),
            (.data(Data(#"<login note="shown" password="hunter2"/>"#.utf8), contentType: "text/xml"), .text("x")),
            (.data(Data(#"{"note": "shown", "password": "hunter2", "#.utf8), contentType: "application/json"), .text("x")),
            (.data(Data("\u{FEFF}{\"password\":\"hunter2\",\"note\":\"shown\"}".utf8), contentType: "application/json"), .text("x")),
        ])
    func secretsOfBodies(body: HTTPBody, matcher: BodyMatcher) async throws {
        let report = try await report(of: Endpoint(.post, "/a", body: body)) {
            MockURLProtocol.stub(.post, "/a", body: matcher, respond: .status(200))
        }
        #expect(report.contains("shown") && report.contains("…") && !report.contains("hunter2") && !report.contains("4711"), "\(report)")
    }

    @Test("A variable of GraphQL and its type are no secret")
    func variables() async throws {
        let query = "mutation Login($password: String!) { login(password: $password, first: 10) { id } }"
        let report = try await report(of: Endpoint(.post, "/graphql", body: .json(["query": query])))
        #expect(report.contains(#"{"query":"\#(query)"}"#), "\(report)")
    }

    @Test("A multipart body is a line for each part, also if one is not text, and its stub says which parts differ")
    func multipart() async throws {
        let body = HTTPBody.multipart([
            MultipartPart(name: "note", json: ["title": "Moin"]),
            MultipartPart(name: "photo", data: Data([0xFF, 0xD8, 0]), contentType: "image/jpeg", fileName: "cat.jpg"),
        ])
        let report = try await report(of: Endpoint(.post, "/a", body: body)) {
            MockURLProtocol.stub(
                .post, "/a",
                body: .multipart(containing: ["note": .json(["title": "Hi"]), "photo": .data(Data([0xFF])), "tag": .text("b")]),
                respond: .status(200))
        }
        let shown = """
            note: an object
            note.content-type: "application/json"
            note.title: "Moin"
            photo: 3 bytes that are not text
            photo.content-type: "image/jpeg"
            photo.filename: "cat.jpg"
            """
        #expect(lines(of: report).contains(shown), "\(report)")
        let difference = """
            body    expected  note.title: "Hi", photo: 1 bytes that are not text, no byte 1, tag: b
            got       parts: note, photo; note.title: "Moin", photo: 3 bytes that are not text, byte 1 is 0xD8, tag: no such part
            """
        #expect(lines(of: report).contains(difference), "\(report)")
        let other = try await self.report(of: Endpoint(.post, "/a", body: .json(1))) {
            MockURLProtocol.stub(.post, "/a", body: .multipart(containing: ["note": .text("a"), "tag": .text("b")]), respond: .status(200))
        }
        #expect(lines(of: other).contains("body    expected  a multipart body with note, tag\ngot       1"), "\(other)")
    }

    @Test(
        "The parts that came stand before any content, in the request and in each difference",
        arguments: [
            (.multipart(containing: ["title": .text("a")]), #"title: a"#, "title: no such part"),
            (.multipart(containing: ["password": .text("hunter3")]), "password: …", "password: no such part"),
            (.multipart(containing: ["empty": .text("a")]), "empty: a", "empty: an empty part"),
            (.multipart(containing: ["kind": .text("a")]), "kind: a", "kind: b"),
            (.json(["title": 1]), #"{"title":1}"#, #"[0]: "c" "#), (.matching("a title") { _ in false }, "a title", #"[0]: "c" "#),
        ] as [(BodyMatcher, String, String)])
    func partsThatCame(matcher: BodyMatcher, expected: String, got: String) async throws {
        let fields = ["token": "hunter2", "empty": "", "text": String(repeating: "long ", count: 1000), "kind": "b"]
        let named = fields.sorted { $0.key < $1.key }.map { "--b\r\nContent-Disposition: form-data; name=\($0)\r\n\r\n\($1)\r\n" }.joined()
        let body = Data("--b\r\n\r\nc\r\n\(named)--b--".utf8)
        let report = try await report(of: Endpoint(.post, "/a", body: .data(body, contentType: "multipart/form-data; boundary=b"))) {
            MockURLProtocol.stub(.post, "/a", body: matcher, respond: .status(200))
        }
        let parts = #"parts: "", empty, kind, text, token"#
        #expect(lines(of: report).contains("POST https://api.example.com/a\n\(parts)\n"), "\(report)")
        #expect(lines(of: report).contains("body    expected  \(expected)\ngot       \(parts); \(got)"), "\(report)")
        #expect(!report.contains("hunter") && report.utf8.count < 3000, "\(report)")
    }

    @Test("A typed stub's difference names the parts that came")
    func partsOfTypedStub() async throws {
        let sent = HTTPBody.multipart([MultipartPart(name: "note", value: "a")])
        let report = try await report(of: Endpoint(.post, "/a", body: sent)) {
            let parts = ["note", "title"].map { MultipartPart(name: $0, value: "a") }
            MockURLProtocol.stub(Endpoint<String>(.post, "/a", body: .multipart(parts)), respond: .status(200))
        }
        #expect(lines(of: report).contains("body    expected  title: \"a\"\ngot       parts: note; title: nothing"), "\(report)")
    }

    @Test(
        "The scheme of a credential is shown, and never the credential",
        arguments: [
            ("Bearer t0ken", "Token s3cret", "Bearer …", "Token …"), ("Bearer t0ken", "s3cret", "Bearer …", "…"),
            ("Basic t0ken", "BASIC s3cret", "Basic …", "BASIC …"), ("Bearer t0ken", "s3cret s3cret2", "Bearer …", "…"),
            ("Bearer t0ken", "Bearer s3cret", "Bearer …", "Bearer … (differs, but is not shown)"),
        ])
    func schemes(stub: String, sent: String, expected: String, got: String) async throws {
        for name in ["Authorization", "Proxy-Authorization"] {
            let report = try await report(of: Endpoint<String>(.get, "/a", headers: [name: sent])) {
                MockURLProtocol.stub(.get, "/a", headers: [name: stub], respond: .status(200))
            }
            #expect(lines(of: report).contains("header  expected  \(name): \(expected)\ngot       \(name): \(got)"), "\(report)")
            #expect(!report.contains("s3cret") && !report.contains("t0ken"), "\(report)")
        }
    }

    @Test("The cookies that differ are shown by their names")
    func cookies() async throws {
        let request = Endpoint<String>(.get, "/a", headers: ["Cookie": "sid=s3cret; lang=de"])
        for (cookie, difference) in [
            ("sid=other; lang=de", "header  expected  Cookie: sid=…\ngot       Cookie: sid=… (differs, but is not shown)"),
            ("token=x", "header  expected  Cookie: token=…\ngot       Cookie: lang=…; sid=…"),
        ] {
            let report = try await report(of: request) {
                MockURLProtocol.stub(.get, "/a", headers: ["Cookie": cookie], respond: .status(200))
            }
            #expect(lines(of: report).contains(difference) && !report.contains("s3cret"), "\(report)")
        }
    }

    @Test("What differs looks different: characters that look the same are escaped, and a text is in quotes")
    func lookAlikes() async throws {
        let sent = Endpoint<String>(
            .post, "/caf\("e\u{301}")", query: ["\u{E9}": "1", "q": "e\u{301}"], headers: ["X-A": "a\u{A0}b"],
            body: .json(["e\u{301}": 1, "n": "1"]))
        let report = try await report(of: sent) {
            MockURLProtocol.stub(
                .post, "/caf\u{E9}", query: ["e\u{301}": "1", "q": "\u{E9}"], headers: ["X-A": "a b"],
                body: .json(["\u{E9}": 1, "n": 1]), respond: .status(200))
        }
        let sides = lines(of: report).split(separator: "\n").filter { $0.contains("expected") || $0.hasPrefix("got") }
            .map { $0.replacingOccurrences(of: "got ", with: "").components(separatedBy: "expected").last ?? "" }
        #expect(sides.count == 10, "\(report)")
        for index in stride(from: 0, to: sides.count, by: 2) { #expect(sides[index] != sides[index + 1], "\(report)") }
        #expect(report.contains("e%CC%81: nothing, é: 1, n: 1\n") && report.contains("e%CC%81: 1, é: nothing, n: \"1\"\n"), "\(report)")
    }

    @Test("A body is cut at one kilobyte")
    func longBody() async throws {
        let report = try await report(of: posting(Data(repeating: UInt8(ascii: "x"), count: 5000)))
        #expect(report.contains("x… (5000 bytes)\n"))
        #expect(report.utf8.count < 2000)
    }

    @Test("Of stubs that differ in their JSON alone, the one of which most members match is the nearest")
    func nearestJSON() async throws {
        let sent: JSONValue = ["operationName": "A", "variables": ["id": 1, "page": 2]]
        let report = try await report(of: posting(Data("\(sent)".utf8))) {
            MockURLProtocol.stub(
                .post, "/a", body: .json(containing: ["operationName": "A", "variables": ["id": 2]]), fileID: "A", line: 1,
                respond: .status(200))
            for name in ["B", "C", "D", "E"] {
                let other: JSONValue = ["operationName": JSONValue(name), "variables": ["id": 2]]
                MockURLProtocol.stub(.post, "/a", body: .json(containing: other), fileID: name, line: 2, respond: .status(200))
            }
        }
        #expect(report.contains(#"1. POST /a {"operationName":"A","variables":{"id":2}} (A:1)"#), "\(report)")
        #expect(report.contains(#"2. POST /a {"operationName":"E","variables":{"id":2}} (E:2)"#), "\(report)")
    }

    @Test("A stub whose JSON matches in part is nearer than a newer one for any other body")
    func nearestInPart() async throws {
        let report = try await report(of: posting(Data(#"{"a":1,"b":2}"#.utf8))) {
            MockURLProtocol.stub(.post, "/a", body: .json(["a": 1, "b": 3]), fileID: "A", line: 1, respond: .status(200))
            MockURLProtocol.stub(.post, "/a", body: .text("x"), respond: .status(200))
            MockURLProtocol.stub(.post, "/a", body: .matching { _ in false }, respond: .status(200))
        }
        #expect(report.contains("1. POST /a (A:1)"), "\(report)")
    }

    @Test("A body that is no object of JSON is no nearer to a stub with JSON than to another", arguments: ["a=1", "[1]", "1"])
    func nearestBody(body: String) async throws {
        let report = try await report(of: posting(Data(body.utf8))) {
            MockURLProtocol.stub(.post, "/a", body: .json(["a": 1]), fileID: "A", line: 1, respond: .status(200))
            MockURLProtocol.stub(.post, "/a", body: .form(["a": "2"]), fileID: "B", line: 2, respond: .status(200))
        }
        #expect(report.contains("1. POST /a (B:2)") && report.contains("2. POST /a (A:1)"), "\(report)")
    }

    @Test(
        "It shows the three nearest stubs: those most like the request, the newest first, even if they have a problem",
        arguments: [
            (
                "/repos/apple/swift/issues?state=open",
                [
                    "/users", "/repos/apple/swift", "/repos/*/*/pulls", "/repos/apple/swift/issue",
                    "/repos/apple/swift/issues?state=closed", "/repos/apple/swift/issues?state=all",
                ], [3, 5, 4]
            ),
            ("/repos/apple/swift", ["/repos/apple/kotlin", "repos/apple/swift", "/repos/apple/swif", "/users#top"], [2, 1, 0]),
            ("/item", ["/items", "/item-of-the-month"], [0, 1]), ("/repos/a/b", ["/repos/*/c", "/repos/x/y"], [0, 1]),
            ("/v3/items", ["/items"], [0]),
        ] as [(String, [String], [Int])])
    func nearest(url: String, stubs: [String], nearest: [Int]) async throws {
        let url = try #require(URL(string: "https://api.example.com\(url)"))
        let report = try await report(of: Endpoint(.get, .url(url))) {
            MockURLProtocol.stub(.post, "/users", body: .json(Double.nan), respond: .status(200))
            MockURLProtocol.stub(Endpoint<String>(.get, "/users/\("")"), respond: "")
            for stub in stubs { MockURLProtocol.stub(.get, stub, respond: .status(200)) }
        }
        let shown = report.split(separator: "\n").compactMap { line in
            (1...6).contains { line.hasPrefix("    \($0). ") } ? line.dropFirst(7).components(separatedBy: " (")[0] : nil
        }
        #expect(shown.starts(with: nearest.map { "GET \(stubs[$0])" }) && shown.count == 3, "\(report)")
        // The hint about a base URL is for stubs of typed requests.
        #expect(!report.contains("baseURL"), "\(report)")
        let count = stubs.count + 2
        #expect(report.contains("\" has \(count) stubs\(count > 3 ? ". The nearest are" : ""):\n"), "\(report)")
    }

    @Test(
        "It shows method, path and host. A slash within a segment stays escaped.",
        arguments: [("a%0Ab", "a b"), ("a%2Fb", "a%2Fb")])
    func paths(path: String, shown: String) async throws {
        let url = try #require(URL(string: "https://api.example.com/\(path)"))
        let report = try await report(of: Endpoint(.get, .url(url))) {
            MockURLProtocol.stub(.put, "https://api.example.org/a/b", respond: .status(200))
        }
        let difference = """
            method  expected  PUT
            got       GET
            path    expected  /a/b
            got       /\(shown)
            host    expected  https://api.example.org
            got       https://api.example.com
            """
        #expect(lines(of: report).contains(difference), "\(report)")
    }

    @Test(
        "The stub to paste has escapes, the host before a path that begins with two slashes, and JSON if the request accepts it",
        arguments: [
            (.get, "/a", "application/json", #".get, "/a", respond: .json(["key": "value"])"#),
            (.get, "/a", "text/event-stream", #".get, "/a", respond: .events([ServerSentEvent(data: "text")])"#),
            (.get, "/a", "application/x-ndjson", #".get, "/a", respond: .jsonLines([["key": "value"]])"#),
            (.get, "//user", "text/plain", #".get, "https://api.example.com//user", respond: .status(200)"#),
            (
                "PROPFIND", "/a%20b%2Fc*/%22?q=%22%5C(x)%0A&l=1&l=2&token=t0ken", "text/plain",
                #""PROPFIND", "/a%20b%2Fc%2A/%22", query: ["q": "\"\\(x)\n", "l": ["1", "2"]], respond: .status(200)"#
            ),
        ] as [(HTTPMethod, String, String, String)])
    func paste(method: HTTPMethod, url: String, type: String, stub: String) async throws {
        let url = try #require(URL(string: "https://api.example.com\(url)"))
        let report = try await report(of: Endpoint(method, .url(url), headers: ["Accept": type]))
        #expect(report.hasSuffix("    MockURLProtocol.stub(\(stub))"), "\(report)")
    }

    @Test("For an operation of GraphQL, the stub to paste answers that operation alone, and stubs of several are told apart")
    func graphQL() async throws {
        let body = HTTPBody.json(["operationName": "Me", "query": "query Me { viewer { login } }"])
        let report = try await report(of: Endpoint(.post, "/graphql", body: body)) {
            for name in ["Issues", "Stars"] {
                MockURLProtocol.stub(.post, "/graphql", body: .json(containing: ["operationName": .init(name)]), respond: .status(200))
            }
        }
        #expect(report.contains(#"stub(.post, "/graphql", body: .json(containing: ["operationName": "Me"]), respond: "#), "\(report)")
        #expect(report.contains(#"POST /graphql {"operationName":"Issues"} ("#), "\(report)")
        #expect(report.contains(#"POST /graphql {"operationName":"Stars"} ("#), "\(report)")
        let anonymous = try await self.report(of: Endpoint(.post, "/graphql", body: .json(["query": "{ viewer { login } }"])))
        #expect(anonymous.contains(#"body: .json(containing: ["query": "{ viewer { login } }"]), respond: "#), "\(anonymous)")
        let secret = "mutation Login {\n  login(password: \"hunter2\") { id }\n}"
        let withSecret = try await self.report(of: Endpoint(.post, "/graphql", body: .json(["query": secret])))
        #expect(withSecret.contains(#"body: .contains("mutation Login {"), respond: "#), "\(withSecret)")
        // A text to search for is none.
        let search = try await self.report(of: Endpoint(.post, "/search", body: .json(["query": "swift"])))
        #expect(search.contains(#"stub(.post, "/search", respond: "#), "\(search)")
    }

    @Test("What a request sends as a credential shows nowhere in its report, and not in the stub to paste")
    func credentialsElsewhere() async throws {
        let request = Endpoint<String>(
            .post, "/x", query: ["user": "swordfish", "page": 2], headers: ["X-Api-Key": "swordfish"], body: .json(["who": "swordfish"]))
        let report = try await report(of: request) {
            MockURLProtocol.stub(.post, "/x", query: ["user": "other"], body: .json(["who": "other"]), respond: .status(200))
        }
        #expect(!report.contains("swordfish") && report.contains(#"MockURLProtocol.stub(.post, "/x", query: ["page": "2"]"#), "\(report)")
    }

    @Test("A stub of the process that matches is named")
    func processStub() async throws {
        var report = ""
        // A test of the process may remove the stub at any moment.
        for _ in 0..<100 where !report.contains("The mock of the whole process has a stub that matches: GET /of-process (") {
            report = try await self.report(of: Endpoint(.get, "/of-process")) {
                _ = await Task.detached { MockURLProtocol.stub(.get, "/of-process", isOptional: true, respond: .status(200)) }.value
            }
        }
        #expect(report.contains("The mock of the whole process has a stub that matches: GET /of-process ("), "\(report)")
    }

    @Test("In the process-wide scope, it lists the live scopes in order, and names the trait")
    func process() async throws {
        func inScopes(_ names: ArraySlice<String>) async throws -> APIError {
            guard let name = names.first else {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [MockURLProtocol.self]
                return try await DefaultAPIProvider(baseURL: example, configuration: configuration)
                    .failure(of: Endpoint<String>(.get, "/process"))
            }
            return try await MockURLProtocol.withScope(name) { try await inScopes(names.dropFirst()) }
        }
        let report = try await inScopes(["!3", "!1", "!2"]).description
        // Other tests may have added stubs to it.
        #expect(report.contains("The scope of the whole process has "), "\(report)")
        let scopes = "\n\nOther scopes are live: \"!1\", \"!2\", \"!3\""
        #expect(report.contains(scopes) && report.contains("Give its test the trait, @Test(.mockNetwork), or run it in"), "\(report)")
        #expect(!report.contains("and 0 more"), "\(report)")
        // Three are named, and the rest are counted.
        let longReport = try await inScopes(["!3", "!1", "!2", "!4"]).description
        #expect(longReport.contains("Other scopes are live: \"!1\", \"!2\", \"!3\" and "), "\(longReport)")
    }
}

extension BodyMatcher {
    fileprivate static func text(_ text: String) -> BodyMatcher { .data(Data(text.utf8)) }
}
