import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

private let x49 = String(repeating: "x", count: 49)
private let x50 = String(repeating: "x", count: 50)
private let x200 = String(repeating: "x", count: 200)
private let a200 = String(repeating: "a ", count: 100)

@Suite("The report of a request without an answer", tenMinutes)
struct UnansweredReportTests {
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
            _ = try? await DefaultAPIProvider(baseURL: example, transport: MockTransport()).request(request).value
        }
        let article = try PackageFile("Sources/MockNetwork/MockNetwork.docc/WhenARequestHasNoAnswer.md")
        #expect(article.text.contains("```\n\(report)\n```\n"), "\(report)")
    }

    @Test("The stub to paste answers with JSON if the request accepts it")
    func pasted() async throws {
        for (type, answer) in [("application/json", #".json(["key": "value"])"#), ("text/plain", ".status(200)")] {
            let report = try await report(of: Endpoint<String>(.get, "/a", headers: ["Accept": type])) {}
            #expect(report.contains("MockURLProtocol.stub(.get, \"/a\", respond: \(answer))"), "\(report)")
        }
    }

    @Test("A slash within a segment of a path differs from one between two segments")
    func slashes() async throws {
        let report = try await report(of: Endpoint<String>(.get, "/repos/\("apple/swift")")) {
            MockURLProtocol.stub(.get, "/repos/apple/swift", respond: .status(200))
        }
        #expect(report.contains("path    expected  /repos/apple/swift\n               got       /repos/apple%2Fswift\n"), "\(report)")
    }

    @Test("It shows expected and actual values, without secrets")
    func mismatches() async throws {
        let body = HTTPBody.json(["user": ["name": "a", "password": "s3cret"]])
        let request = Endpoint<String>(.post, "/login", headers: ["Authorization": "Bearer s3cret", "X-Kind": "one"], body: body)
        let table: [(@Sendable () -> Void, String)] = [
            (
                { MockURLProtocol.stub(.post, "/login", headers: ["authorization": "Bearer t0ken"], respond: .status(200)) },
                "header  expected  authorization: …\ngot       authorization: … (another)"
            ),
            (
                { MockURLProtocol.stub(.post, "/login", headers: ["X-Kind": "two", "X-Other": "b"], respond: .status(200)) },
                """
                header  expected  X-Kind: two
                got       X-Kind: one
                header  expected  X-Other: b
                got       no X-Other
                """
            ),
            (
                {
                    MockURLProtocol.stub(
                        .post, "/login", body: .json(["user": ["name": "b", "password": "s3cret"]]), respond: .status(200))
                },
                "body    expected  user.name: \"b\"\ngot       user.name: \"a\""
            ),
            (
                {
                    MockURLProtocol.stub(.post, "/login", body: .json(["user": ["name": "a", "password": "t0ken"]]), respond: .status(200))
                },
                "body    expected  user.password: …\ngot       user.password: … (another)"
            ),
            (
                { MockURLProtocol.stub(.post, "/login", body: .form(["name": "a", "password": "t0ken"]), respond: .status(200)) },
                "body    expected  name=a&password=…\ngot       {\"user\":{"
            ),
            (
                { MockURLProtocol.stub(.post, "/login", body: .matching("a form") { _ in false }, respond: .status(200)) },
                "body    expected  a form\ngot       {\"user\":{"
            ),
            (
                { MockURLProtocol.stub(.post, "/login", query: ["q": ["a", "b"], "token": "t0ken"], respond: .status(200)) },
                "query   expected  q=a&q=b\ngot       no q\nquery   expected  token=…\ngot       no token"
            ),
            (
                { MockURLProtocol.stub(.put, "https://api.example.org/log", respond: .status(200)) },
                """
                method  expected  PUT
                got       POST
                path    expected  /log
                got       /login
                host    expected  https://api.example.org
                got       https://api.example.com
                """
            ),
        ]
        for (stub, expected) in table {
            let report = try await report(of: request, stub: stub)
            let lines = report.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
            #expect(lines.contains(expected), "\(report)")
            #expect(!report.contains("s3cret") && !report.contains("t0ken"), "\(report)")
        }
    }

    @Test(
        "It shows the first difference in JSON by its place",
        arguments: [
            ("[1,2,3]", "[1,3,4]", "[1]: 2", "[1]: 3"), ("[1]", "[1,2]", "[1]: nothing", "[1]: 2"),
            ("[1,2]", "[1]", "[1]: 2", "[1]: nothing"), (#"{"a":[{"b":null}]}"#, #"{"a":[{"b":true}]}"#, "a[0].b: null", "a[0].b: true"),
            (#"{"a":{}}"#, #"{"a":[]}"#, "a: an object", "a: an array"), (#"{"b":1,"a":1}"#, #"{"b":2,"a":2}"#, "a: 1", "a: 2"),
            (#"{"a":1}"#, "{}", "a: 1", "a: nothing"), (#"{"a":"x"}"#, #"{"a":"y\n"}"#, #"a: "x""#, #"a: "y\n""#),
            ("[1.50]", "[1.5e1]", "[0]: 1.50", "[0]: 1.5e1"), ("[1]", "{}", "[1]", "{}"), ("1", "no JSON", "1", "no JSON"),
            ("no JSON", "no JSON", "no JSON (this is not JSON)", "no JSON"), ("1", "", "1", "no body"),
            (#"{"token":"a"}"#, #"{"token":"b"}"#, "token: …", "token: … (another)"),
            (#"{"a":"x"}"#, #"{"a":"Bearer t0ken"}"#, "a: …", "a: … (another)"),
            (#"{"a":"Bearer t0ken"}"#, #"{"a":"x"}"#, "a: …", "a: … (another)"),
            ("1", String(repeating: "\n", count: 1020) + "word", "1", "word"),
            ("1", String(repeating: "x", count: 201), "1", String(repeating: "x", count: 200) + "…"),
            ("1", String(repeating: "x", count: 200), "1", String(repeating: "x", count: 200)),
            ("[\"\(x200)\"]", "[\"\(x200)y\"]", "[0]: …\(x50)\"", "[0]: …\(x50)y\""),
        ])
    func json(expected: String, body: String, shownExpected: String, shownBody: String) async throws {
        let request = Endpoint<String>(.post, "/a", body: .data(Data(body.utf8), contentType: "text/plain"))
        let report = try await report(of: request) { MockURLProtocol.stub(.post, "/a", body: .json(text: expected), respond: .status(200)) }
        #expect(report.contains("body    expected  \(shownExpected)\n               got       \(shownBody)\n"), "\(report)")
    }

    @Test(
        "Two different bodies are shown as two different lines, around the first difference",
        arguments: [
            ("\(x200)a\(x200)", "\(x200)b\(x200)", "…\(x50)a\(x50)\(x50)\(x49)…", "…\(x50)b\(x50)\(x50)\(x49)…"),
            (x200, x200 + "y", "…\(x50)", "…\(x50)y"), ("a", "ab", "a", "ab"), ("a\n\nb", "a c", "a b", "a c"),
            ("a b", "a\nb", #""a b""#, #""a\nb""#), ("a", "a ", #""a""#, #""a ""#), ("a\u{200B}b", "ab", #""a\u{200B}b""#, #""ab""#),
            ("caf\u{E9}", "cafe\u{301}", #""caf\u{00E9}""#, #""cafe\u{0301}""#),
            (#"{"token":"a"}"#, #"{"token":"b"}"#, #"{"token":"…"}"#, #"{"token":"…"} (another)"#),
            (String(repeating: "a ", count: 40_000), String(repeating: "a ", count: 40_001), "\(a200)…", "\(a200)… (another)"),
        ])
    func bodies(expected: String, body: String, shownExpected: String, shownBody: String) async throws {
        let request = Endpoint<String>(.post, "/a", body: .data(Data(body.utf8), contentType: "text/plain"))
        let report = try await report(of: request) {
            MockURLProtocol.stub(.post, "/a", body: .data(Data(expected.utf8)), respond: .status(200))
        }
        #expect(report.contains("body    expected  \(shownExpected)\n               got       \(shownBody)\n"), "\(report)")
    }

    @Test("Bodies that are not text differ at a byte")
    func bytes() async throws {
        for (expected, body, lines) in [
            ([0xFF, 1], [0xFF, 0xA], ["2 bytes that are not text, byte 1 is 0x1", "2 bytes that are not text, byte 1 is 0xA"]),
            ([0xFF], [0xFF, 2], ["1 bytes that are not text, no byte 1", "2 bytes that are not text, byte 1 is 0x2"]),
            ([0xFF], [0x61], ["1 bytes that are not text, byte 0 is 0xFF", "a"]),
        ] as [([UInt8], [UInt8], [String])] {
            let report = try await report(of: Endpoint<String>(.post, "/a", body: .data(Data(body), contentType: "text/plain"))) {
                MockURLProtocol.stub(.post, "/a", body: .data(Data(expected)), respond: .status(200))
            }
            #expect(report.contains("body    expected  \(lines[0])\n               got       \(lines[1])\n"), "\(report)")
        }
    }

    @Test("It shows the parameters of two forms that differ")
    func forms() async throws {
        for (expected, body, lines) in [
            (["a": x200, "b": "1 2"], ["b": "1 3", "a": x200], ["b=1 2", "b=1 3"]),
            (["a": "1"], ["a": "1", "c": "2"], ["nothing more", "c=2"]),
            (["a": ["1", "2"]], ["a": ["2", "1"]], ["a=1&a=2", "a=2&a=1"]),
        ] as [(QueryParameters, QueryParameters, [String])] {
            let report = try await report(of: Endpoint<String>(.post, "/a", body: .form(body))) {
                MockURLProtocol.stub(.post, "/a", body: .form(expected), respond: .status(200))
            }
            #expect(report.contains("body    expected  \(lines[0])\n               got       \(lines[1])\n"), "\(report)")
        }
    }

    @Test("It shows the three nearest stubs, the nearest and newest first")
    func nearest() async throws {
        let report = try await report(of: Endpoint<String>(.get, "/repos/apple/swift/issues", query: ["state": "open"])) {
            for (method, url) in [
                (.get, "/users"), (.get, "/repos/apple/swift"), (.post, "/repos/*/*/issues"), (.get, "/repos/apple/swift/issue"),
                (.get, "/repos/apple/swift/issues?state=closed"), (.get, "/repos/apple/swift/issues?state=all"),
            ] as [(HTTPMethod, String)] { MockURLProtocol.stub(method, url, respond: .status(200)) }
        }
        let named = report.split(separator: "\n").compactMap { line in
            (1...6).contains { line.hasPrefix("    \($0). ") } ? line.dropFirst(7).prefix { $0 != "(" } : nil
        }
        #expect(
            named == [
                "GET /repos/apple/swift/issue ", "GET /repos/apple/swift/issues?state=all ", "GET /repos/apple/swift/issues?state=closed ",
            ])
        #expect(report.contains("\" has 6 stubs. The nearest are:\n"))
    }

    @Test("A stub that has more in common with the request is nearer")
    func nearer() async throws {
        let report = try await report(of: Endpoint<String>(.get, "/item")) {
            for url in ["/items", "/item-of-the-month"] { MockURLProtocol.stub(.get, url, respond: .status(200)) }
        }
        #expect(report.contains("    1. GET /items ") && report.contains("    2. GET /item-of-the-month "), "\(report)")
        let withStars = try await self.report(of: Endpoint<String>(.get, "/repos/a/b")) {
            for url in ["/repos/*/c", "/repos/x/y"] { MockURLProtocol.stub(.get, url, respond: .status(200)) }
        }
        #expect(withStars.contains("    1. GET /repos/*/c ") && withStars.contains("    2. GET /repos/x/y "), "\(withStars)")
        // The hint about a base URL is for stubs of typed requests.
        let behindBase = try await self.report(of: Endpoint<String>(.get, "/v3/items")) {
            MockURLProtocol.stub(.get, "/items", respond: .status(200))
        }
        #expect(!behindBase.contains("baseURL"), "\(behindBase)")
    }

    @Test("A stub with a problem is ranked by its distance, as others are")
    func problems() async throws {
        let report = try await report(of: Endpoint<String>(.get, "/repos/apple/swift")) {
            let issues = "/repos/apple/swift/issues"
            MockURLProtocol.stub(.get, "/repos/apple/kotlin", respond: .status(200))
            MockURLProtocol.stub(.get, "repos/apple/swift", respond: .status(200))
            MockURLProtocol.stub(.get, "/repos/apple/swif", respond: .status(200))
            MockURLProtocol.stub(.get, "/users#top", respond: .status(200))
            MockURLProtocol.stub(Endpoint<String>(.get, "/users/\("")"), respond: "")
            MockURLProtocol.stub(.post, "\(issues)", body: .json(Double.nan), respond: .status(200))
        }
        let named = report.split(separator: "\n").compactMap { line in
            (1...6).contains { line.hasPrefix("    \($0). ") } ? line.dropFirst(7).prefix { $0 != "(" } : nil
        }
        #expect(named == ["GET /repos/apple/swif ", "GET repos/apple/swift ", "GET /repos/apple/kotlin "], "\(report)")
        #expect(report.contains("its URL can match no request, because it begins neither"), "\(report)")
    }

    @Test("It shows no secret that is nested or in a URL")
    func nested() async throws {
        let url = "https://api.example.com/a?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Ds3cret&n=1#access_token=s3cret"
        let request = try anyRequest(
            .post, url, headers: ["Referer": "https://b.example/?token=s3cret"], body: Data(#"{"auth":{"login":"s3cret"}}"#.utf8))
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(
                .post, "/a", query: ["next": "https://b.example/?token=t0ken"], headers: ["Referer": "https://b.example/?token=t0ken"],
                body: .json(["auth": ["login": "t0ken"]]), respond: .status(200))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
            #expect(!"\(error)".contains("s3cret") && !"\(error)".contains("t0ken"), "\(error)")
            for difference in [
                "next=https://b.example/?token=… (another)", "Referer: https://b.example/?token=… (another)", "auth.login: … (another)",
            ] {
                #expect("\(error)".contains("got       \(difference)"), "\(error)")
            }
            #expect("\(error)".hasSuffix(#"MockURLProtocol.stub(.post, "/a", query: ["n": "1"], respond: .status(200))"#), "\(error)")
        }
    }

    @Test("It shows no user and no fragment of a URL")
    func userAndFragment() async throws {
        try await MockURLProtocol.withScope {
            let session = URLSession(configuration: MockURLProtocol.configuration)
            let url = try #require(URL(string: "https://s3cret@api.example.com/a?b#access_token=s3cret"))
            await withCheckedContinuation { continuation in
                session.dataTask(with: url) { _, _, _ in continuation.resume() }.resume()
            }
            #expect(MockURLProtocol.unmatchedRequests.map(\.description) == ["GET https://api.example.com/a?b"])
        }
    }

    @Test("Line breaks in a request do not break its lines")
    func lines() async throws {
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("https", "api.example.com", "/a\nb")
        components.queryItems = [URLQueryItem(name: "q", value: "1\n2")]
        let report = try await report(of: Endpoint<String>(.get, .url(try #require(components.url)))) {
            MockURLProtocol.stub(.get, "/c", query: ["q": "3\n4"], respond: .status(200))
        }
        #expect(report.contains("got       /a b\n"), "\(report)")
        #expect(report.contains("expected  q=3 4\n"), "\(report)")
    }

    @Test("The stub to paste escapes all characters")
    func paste() async throws {
        let url = try #require(URL(string: "https://api.example.com/a%20b%2Fc*/%22?q=%22%5C(x)%0A&l=1&l=2&token=t0ken"))
        let line =
            #"MockURLProtocol.stub("PROPFIND", "/a%20b%2Fc%2A/%22", query: ["q": "\"\\(x)\n", "l": ["1", "2"]], respond: .status(200))"#
        let request = Endpoint<String>("PROPFIND", .url(url))
        let report = try await report(of: request) {}
        #expect(report.hasSuffix("    \(line)"), "\(report)")
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub("PROPFIND", "/a%20b%2Fc%2A/%22", query: ["q": "\"\\(x)\n", "l": ["1", "2"]], respond: .status(200))
            _ = try await DefaultAPIProvider(baseURL: example, transport: MockTransport()).request(request).value
        }
    }

    @Test("The stub to paste has the host if the path begins with two slashes")
    func twoSlashes() async throws {
        let report = try await report(of: Endpoint<String>(.get, .url(try #require(URL(string: "https://api.example.com//user"))))) {}
        #expect(report.hasSuffix(#"MockURLProtocol.stub(.get, "https://api.example.com//user", respond: .status(200))"#), "\(report)")
    }

    @Test("A body is cut at one kilobyte")
    func longBody() async throws {
        let body = HTTPBody.data(Data(repeating: UInt8(ascii: "x"), count: 5000), contentType: "text/plain")
        let report = try await report(of: Endpoint<String>(.post, "/a", body: body)) {
            MockURLProtocol.stub(.post, "/a", body: .contains("y"), respond: .status(200))
        }
        #expect(report.contains("x… (5000 bytes)\n"))
        #expect(report.utf8.count < 2000)
    }

    @Test("In the process-wide scope, it lists the live scopes in order, and names the trait")
    func process() async throws {
        func inScopes(_ names: ArraySlice<String>, _ operation: @Sendable () async throws -> Void) async throws {
            guard let name = names.first else { return try await operation() }
            try await MockURLProtocol.withScope(name) { try await inScopes(names.dropFirst(), operation) }
        }
        try await inScopes(["!3", "!1", "!2"]) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [MockURLProtocol.self]
            let provider = DefaultAPIProvider(baseURL: example, configuration: configuration)
            let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<String>(.get, "/process")).value }
            #expect(
                error.description.contains("The scope of the whole process has no stubs.\n\nOther scopes are live: \"!1\", \"!2\", \"!3\""),
                "\(error)")
            #expect(error.description.contains("Give its test the trait, @Test(.mockNetwork), or run it in"), "\(error)")
        }
    }

    /// The report of `request` in a scope with the stubs that `stub` makes.
    private func report(of request: Endpoint<String>, stub: @Sendable () async -> Void) async throws -> String {
        try await MockURLProtocol.withScope("the issues of a repository") {
            await stub()
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
            return "\(try #require(error.underlying))"
        }
    }
}
