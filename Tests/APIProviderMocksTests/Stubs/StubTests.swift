import APIProvider
import APIProviderMocks
import APIProviderTesting
import Fixtures
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Stubs", .mockNetwork, tenMinutes)
struct StubTests {
    private var provider: DefaultAPIProvider { mocked }

    @Test("The newest stub that matches and is not used up answers, then the handler, then the one answer for everything")
    func order() async throws {
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data("any".utf8)))
        MockURLProtocol.stub(.get, "/a", times: 2, respond: .data(Data("twice".utf8)))
        MockURLProtocol.stub(.post, "/a", isOptional: true, respond: .status(500))
        MockURLProtocol.stub(where: { $0.method == .post }, isOptional: true, respond: .status(500))
        MockURLProtocol.responseWithStatusCode(code: 200)
        MockURLProtocol.requestHandler = { request in
            guard let url = request.url else { throw TestError() }
            MockURLProtocol.requestHandler = nil
            return (try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)), Data("handler".utf8))
        }
        var answers: [String] = []
        for _ in 0..<5 { answers.append(try await provider.request(Endpoint<String>(.get, "/a")).value) }
        #expect(answers == ["twice", "twice", "any", "handler", ""])
    }

    @Test("A mock answers no URL of a scheme that its transport does not know", arguments: Way.allCases)
    func scheme(_ way: Way) async throws {
        MockURLProtocol.stub(.get, "/user", isOptional: true, respond: .status(200))
        let ftp = try #require(URL(string: "ftp://api.example.com/user"))
        let error = try await way.provider.failure(of: Endpoint<Void>(.get, .url(ftp)))
        let reason = #"its URL "ftp://api.example.com/user" has the scheme ftp; it must be http or https."#
        #expect(error.description == "The request was not sent: \(reason)")
    }

    @Test("A mock transport stands for one with a scheme of its own", arguments: ["http+unix", "https+unix"])
    func ownScheme(scheme: String) async throws {
        MockURLProtocol.stub(.get, "/v1", respond: .status(200))
        let socket = try #require(URL(string: "\(scheme)://%2Frun%2Fdocker.sock/v1"))
        try await provider.request(Endpoint<Void>(.get, .url(socket))).value
    }

    @Test(
        "A stub matches equivalent URLs, and no others",
        arguments: [
            ("/search/items", "http://localhost:8080/search/items?q=swift", true),
            ("HTTPS://API.example.com/user", "https://api.EXAMPLE.com:443/user", true),
            ("http://[::1]:8080/user", "http://[::1]:8080/user", true),
            ("https://api.example.com", "https://api.example.com/", true),
            ("/", "https://api.example.com", true), ("/user", "https://api.example.com/user#top", true),
            ("/repos/*/*", "https://api.example.com/repos/apple/a%2Fb", true),
            ("/repos/**", "https://api.example.com/repos/apple/swift/issues", true),
            ("/repos/*/issues/**", "https://api.example.com/repos/apple/issues", true),
            ("https://api.example.com/**", "https://api.example.com/", true),
            ("/a b%2Fc/ü", "https://api.example.com/a%20b%2Fc/%c3%BC", true),
            ("/%2A", "https://api.example.com/*", true),
            ("/%FF", "https://api.example.com/%FF", true),
            ("/search?q=a%20b&page=1", "https://api.example.com/search?page=1&per_page=30&q=a%20b", true),
            ("/s?q=a%20b", "https://api.example.com/s?q=a+b", true), ("/s?q=a%2Bb", "https://api.example.com/s?q=a+b", true),
            ("/s?q=a+b", "https://api.example.com/s?q=a+b", true), ("/s?q=a%2Bb", "https://api.example.com/s?q=a%2Bb", true),
            ("/s?q=1%20%2B%201", "https://api.example.com/s?q=1+%2B+1", true), ("/s?a%20b=c", "https://api.example.com/s?a+b=c", true),
            ("/s?q=a%20b&q=c%20d", "https://api.example.com/s?q=a+b&q=c+d", true),
            ("/s?q=a%20b", "https://api.example.com/s?q=a%2Bb", false), ("/s?q=a%2Bb", "https://api.example.com/s?q=a%20b", false),
            ("/s?q=1%2B1%20a", "https://api.example.com/s?q=1+1+a", false),
            ("/s?q=a%20b&q=c%2Bd", "https://api.example.com/s?q=a+b&q=c+d", false),
            ("/search/items", "https://api.example.com/search/items/", false),
            ("/search/items", "https://api.example.com/Search/items", false),
            ("/search?q=%FE", "https://api.example.com/search?q=%FF", false),
            ("https://api.example.com/user", "http://api.example.com/user", false),
            ("https://api.example.com/user", "https://api.example.com:8443/user", false),
            ("https://api.example.com/user", "https://api.example.org/user", false),
            ("/repos/*/*", "https://api.example.com/repos/apple", false),
            ("/repos/*/*", "https://api.example.com/repos/apple/swift/issues", false),
            ("/repos/*/*", "https://api.example.com/repos/apple/", false),
            ("/a/b", "https://api.example.com/a%2Fb", false),
            ("/%2A", "https://api.example.com/a", false),
            ("/repos/**", "https://api.example.com/reposx/a", false),
            ("/caf\u{E9}", "https://api.example.com/cafe%CC%81", false),
            ("/REDACTED", "https://a.example/user", false),
        ])
    func url(pattern: String, url: String, isMatch: Bool) async throws {
        let request = Endpoint<String>(.get, .url(try #require(URL(string: url))))
        #expect(await isAnswered(request) { MockURLProtocol.stub(.get, pattern, respond: .status(200)) } == isMatch)
    }

    @Test("A stub knows the requests that it has answered, and a request knows its stub")
    func requestsOfStub() async throws {
        let first = MockURLProtocol.stub(.get, "/a", respond: .status(200))
        let second = MockURLProtocol.stub(.get, "/b", query: ["token": "s3cret"], fileID: "Tests/A.swift", line: 7, respond: .status(200))
        MockURLProtocol.responseWithStatusCode(code: 200)
        for n in [1, 2] { try await provider.request(Endpoint<Void>(.get, "/b", query: ["n": n, "token": "s3cret"])).value }
        #expect(first.requests.isEmpty)
        #expect(second.requests.map { $0.queryItems.first?.value } == ["1", "2"])
        for path in ["/a", "/c"] as [RequestPath] { try await provider.request(Endpoint<Void>(.get, path)).value }
        #expect(first.requests.count == 1)
        #expect(MockURLProtocol.requests.map(\.path) == ["/b", "/b", "/a", "/c"])
        #expect(second.description == "GET /b?token=… (Tests/A.swift:7)")
        let ended = MockURLProtocol.withScope { MockURLProtocol.stub(.get, "/c", respond: .status(200)) }
        #expect(ended.requests.isEmpty)
    }

    @Test("If no request has reached the mock, verify says so, and how to create the provider")
    func unreached() async throws {
        for (setUp, name) in [
            ({ MockURLProtocol.responseWithDTO(type: MockURLProtocol.MockDTOType.search) }, #"The fixture "GithubAPI_Response_Search""#),
            ({ MockURLProtocol.responseWithStatusCode(code: 200) }, "A responseType"),
            ({ MockURLProtocol.requestHandler = { _ in throw TestError() } }, "A requestHandler"),
        ] as [(() -> Void, String)] {
            try await MockURLProtocol.withScope {
                try MockURLProtocol.verify()
                setUp()
                let report = try verification()
                #expect(report.hasPrefix("\(name) was set up, but no request has reached this mock."), "\(report)")
                #expect(report.contains("configuration: MockURLProtocol.configuration), or URLSession("), "\(report)")
                #expect(report.contains("one in a static or a global reaches the mock of the test that created it."), "\(report)")
                #expect(report.contains("needs usesClassicLoadingMode = true on Apple's systems."), "\(report)")
                _ = try? await provider.request(Endpoint<Data>(.get, "")).value
                try MockURLProtocol.verify()
            }
        }
    }

    @Test("If requests have reached the mock of the process instead, verify names the first and their number", arguments: [1, 2])
    func strays(count: Int) async throws {
        let expected =
            count == 1
            ? " Meanwhile, GET https://api.example.com/a has reached the mock of the whole process"
            : " Meanwhile, 2 requests, such as GET https://api.example.com/a, have reached the mock of the whole process"
        var report = ""
        // Other tests may send requests there meanwhile, and remove them.
        for _ in 0..<100 where !report.contains(expected) {
            report = try await MockURLProtocol.withScope {
                MockURLProtocol.stub(.get, "/a", respond: .status(200))
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [MockURLProtocol.self]
                let outside = DefaultAPIProvider(baseURL: example, configuration: configuration)
                for _ in 0..<count { _ = try? await outside.request(Endpoint<Data>(.get, "/a")).value }
                return try verification()
            }
        }
        #expect(report.contains(expected), "\(report)")
    }

    @Test("verify reports stubs that were never used and are not optional, until reset")
    func unused() async throws {
        try await MockURLProtocol.withScope("a scope") {
            MockURLProtocol.stub(.get, "/optional", isOptional: true, respond: .status(200))
            MockURLProtocol.stub(.get, "/forbidden", times: 0, respond: .status(200))
            try MockURLProtocol.verify()
            MockURLProtocol.stub(.get, "/unused", fileID: "Tests/A.swift", line: 7, respond: .status(200))
            let unused = "The stub GET /unused (Tests/A.swift:7) was never used."
            #expect(try verification().hasPrefix("\(unused) No request has reached this mock. "))
            _ = try await provider.request(Endpoint<String>(.get, "/optional")).value
            #expect(try verification() == unused)
            _ = try? await provider.request(Endpoint<String>(.get, "/unanswered")).value
            #expect(MockURLProtocol.unmatchedRequests.map(\.path) == ["/unanswered"])
            let report = try verification()
            #expect(report.hasPrefix("MockURLProtocol has no answer for this request"), "\(report)")
            #expect(report == MockURLProtocol.problems[0].text + "\n\n\(unused)")
            MockURLProtocol.reset()
            try MockURLProtocol.verify()
        }
    }

    @Test("The report of an unused stub names the newer one that has answered its requests")
    func hidden() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/a", query: ["page": 2], fileID: "Tests/A.swift", line: 7, respond: .status(200))
            MockURLProtocol.stub(.get, "/a", fileID: "Tests/A.swift", line: 8, respond: .status(200))
            _ = try await provider.request(Endpoint<String>(.get, "/a", query: ["page": 1])).value
            #expect(try verification() == "The stub GET /a?page=2 (Tests/A.swift:7) was never used.")
            _ = try await provider.request(Endpoint<String>(.get, "/a", query: ["page": 2])).value
            let report = try verification()
            #expect(report.contains("The newer stub GET /a (Tests/A.swift:8) answered a request that this one matches."), "\(report)")
            // Of several newer ones, it names the one that has answered first, with its requests alone.
            _ = try await provider.request(Endpoint<String>(.get, "/a", query: ["page": 2])).value
            MockURLProtocol.stub(.get, "/*", fileID: "Tests/A.swift", line: 10, respond: .status(200))
            _ = try await provider.request(Endpoint<String>(.get, "/a", query: ["page": 2])).value
            let newReport = try verification()
            #expect(
                newReport.contains("The newer stub GET /a (Tests/A.swift:8) answered 2 requests that this one matches."), "\(newReport)")
            // An older stub has answered before this one was there.
            MockURLProtocol.stub(.get, "/a", fileID: "Tests/A.swift", line: 9, respond: .status(200))
            #expect(try verification().hasSuffix("The stub GET /a (Tests/A.swift:9) was never used."))
            // A body is compared, too.
            MockURLProtocol.reset()
            MockURLProtocol.stub(.post, "/a", body: .json(["a": 1]), respond: .status(200))
            MockURLProtocol.stub(.post, "/a", fileID: "Tests/A.swift", line: 11, respond: .status(200))
            _ = try await provider.request(Endpoint<String>(.post, "/a", body: .json(["a": 2]))).value
            #expect(try verification().hasSuffix(" was never used."))
            _ = try await provider.request(Endpoint<String>(.post, "/a", body: .json(["a": 1]))).value
            #expect(try verification().contains("The newer stub POST /a (Tests/A.swift:11) answered a request that this one matches."))
            // A closure of the test is not asked again.
            MockURLProtocol.reset()
            let calls = Log<Void>()
            @Sendable func note(_ request: ReceivedRequest) -> Bool {
                calls.append(())
                return true
            }
            MockURLProtocol.stub("any", where: note, respond: .status(200))
            MockURLProtocol.stub(.get, "/a", respond: .status(200))
            _ = try await provider.request(Endpoint<String>(.get, "/a")).value
            #expect(try verification().hasSuffix(" was never used."))
            #expect(calls.count == 0)
        }
    }

    @Test("A session of an ended scope is the one mistake that is reported")
    func mistakeAlone() async throws {
        let ended = MockURLProtocol.withScope { mocked }
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/a", respond: .status(200))
            _ = try? await ended.request(Endpoint<String>(.get, "/a")).value
            let report = try verification()
            #expect(report.hasPrefix(#"This request's scope, "mistakeAlone()", has ended."#), "\(report)")
            #expect(report.hasSuffix("was never used."), "\(report)")
        }
    }

    @Test(
        "The report says why a stub's URL can match nothing",
        arguments: [
            ("user", "begins neither"), ("//host/user", "begins neither"), ("https:///user", "no host"), ("/user#top", "fragment"),
            ("ftp://host/user", "neither http nor https"), ("https://*.example.com/user", "for any host, begin with a slash"),
            ("https://me:pw@host/user", "has a user"), ("/**/a", "%2A"), ("/a**", "%2A"), ("/100%", "%25"), ("/100%2g", "%25"),
        ])
    func malformed(url: String, reason: String) async throws {
        try await MockURLProtocol.withScope {
            let stub = MockURLProtocol.stub(.get, url, respond: .status(200))
            let error = try await provider.failure(of: Endpoint<String>(.get, "/user"))
            #expect(error.description.contains(reason), "\(error)")
            #expect(try verification().contains("\(stub) was never used: its URL can match no request, because "))
            stub.expecting(0)
            #expect(try verification().contains("\(stub) was never used: its URL can match no request, because "))
        }
    }

    @Test(
        "A request must have each header and query item of the stub, in order if they share a name, and may have others",
        arguments: [
            (["page": 1, "q": "a b"], true), (["q": "a"], false), (["label": ["x", "z"]], true), (["label": ["z", "x"]], false),
            (["label": ["x", "x"]], false), (["empty": ""], true), (["missing": ""], false), (["plus": "1+1"], true), ([:], true),
            (["\u{E9}": "1", "e\u{301}": "2"], true), (["\u{E9}": "2"], false),
        ] as [(QueryParameters, Bool)])
    func query(query: QueryParameters, isAnswered: Bool) async throws {
        let url = "https://api.example.com/a?label=x&q=a%20b&label=y&page=1&label=z&empty&plus=1+1&%C3%A9=1&e%CC%81=2"
        let request = Endpoint<String>(.get, .url(try #require(URL(string: url))), headers: ["X-Kind": "One", "Accept": "text/plain"])
        let stub = { _ = MockURLProtocol.stub(.get, "/a", query: query, headers: ["x-kind": "One"], respond: .status(200)) }
        #expect(await self.isAnswered(request, stub: stub) == isAnswered)
    }

    @Test(
        "The cookies of a stub are compared as pairs: in any order, with others beside them, and one that is given twice is there twice",
        arguments: [
            ("sid=abc", true), ("lang=de; sid=abc", true), ("lang=de", true), ("sid=abc; sid=abc", false), ("n=1; n=2", true),
            ("n=2; n=1", true), ("n=2;n=2", false), ("sid=ab", false), ("lang=de; none=", false), ("SID=abc", false),
        ])
    func cookies(cookies: String, isAnswered: Bool) async throws {
        let request = Endpoint<String>(.get, "/a", headers: ["Cookie": "sid=abc; lang=de; n=2; n=1"])
        let stub = { _ = MockURLProtocol.stub(.get, "/a", headers: ["cookie": cookies], respond: .status(200)) }
        #expect(await self.isAnswered(request, stub: stub) == isAnswered)
    }

    @Test("A method in lower case is the method that is sent", arguments: Way.allCases)
    func methodInLowerCase(way: Way) async throws {
        let (post, own) = (HTTPMethod("post"), HTTPMethod(rawValue: "purge"))
        #expect(post == .post && own != "PURGE")
        MockURLProtocol.stub(.post, "/a", respond: .status(200))
        MockURLProtocol.stub(own, "/a", respond: .status(200))
        for method in [post, own] { try await way.provider.request(Endpoint<Void>(method, "/a")).value }
        #expect(MockURLProtocol.requests.map(\.method.rawValue) == ["POST", "purge"])
    }

    @Test(
        "A multipart body contains parts of a name with a content, and may have others",
        arguments: [
            (["note": .json(["title": "Moin", "n": 1])], true), (["note": .json(containing: ["title": "Moin"])], true),
            (["tag": .text("b"), "note": .contains("Moin")], true), (["tag": .text("c")], false), (["none": .contains("")], false),
            (["photo": .data(Data([0xFF, 0])), "tag": .matching { $0.count == 1 }], true), ([:], true),
            (["note": .json(["title": "Hallo"])], false), (["tag": .text("a"), "note": .form(["title": "Moin"])], false),
        ] as [([String: BodyMatcher], Bool)])
    func multipart(parts: [String: BodyMatcher], isAnswered: Bool) async throws {
        let note: JSONValue = ["title": "Moin", "n": 1.0]
        let body = HTTPBody.multipart([
            MultipartPart(name: "note", data: Data(note.description.utf8), contentType: "application/json"),
            MultipartPart(name: "tag", value: "a"), MultipartPart(name: "tag", value: "b"),
            MultipartPart(name: "photo", data: Data([0xFF, 0]), contentType: "image/jpeg", fileName: "a.jpg"),
        ])
        let request = Endpoint<String>(.post, "/a", body: body)
        let stub = { _ = MockURLProtocol.stub(.post, "/a", body: .multipart(containing: parts), respond: .status(200)) }
        #expect(await self.isAnswered(request, stub: stub) == isAnswered)
        let json = Endpoint<String>(.post, "/a", body: .json(note))
        #expect(await !self.isAnswered(json, stub: stub))
    }

    private static func arrays(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }

    private struct Point: Encodable {
        var x = 1
        var y: Double? = 2.5
        var name = "a/b"
    }

    @Test(
        "Bodies with the same meaning match",
        arguments: [
            (.json(Point()), #"{ "name": "a\/b", "y": 2.50, "x": 1.0 }"#, true), (.json(Point()), #"{"name":"a/b","x":2,"y":2.5}"#, false),
            (.json(Point()), #"{"name":"a/b","x":1,"y":2.5,"z":null}"#, false), (.json(["a"]), "", false), (.json(1), "1 2", false),
            (.json(Double.nan), "null", false), (.json(UInt64.max), "18446744073709551614", false),
            (.json(UInt64.max), "18446744073709551615.0", true), (.json(["a"]), "\u{FEFF}[\"a\"]", true),
            (.json(text: "no JSON"), "no JSON", false), (.json(text: arrays(100)), arrays(100), true),
            (.json(text: arrays(101)), arrays(101), false),
            // Other bodies
            (.form(["a": ""]), "a", true), (.form(["a": "%zz"]), "a=%zz", true), (.form(["a": "1=2"]), "&a=1=2&", true),
            (.form(["a": "1 2", "b": ["x", "y"]]), "b=x&a=1+2&b=y", true), (.form(["a": "1 2"]), "a=1%202", true),
            (.form(["a": "1"]), "a=1&b=2", false), (.form(["b": ["x", "y"]]), "b=y&b=x", false),
            (.form(containing: ["a": "1"]), "b=2&a=1&c", true), (.form(containing: ["a": "1"]), "b=2&a=1&a=2", false),
            (.form(containing: ["a": "1", "b": ["x", "y"]]), "b=x&c=1&b=y", false), (.form(containing: [:]), "a=1", true),
            (.text("é"), "é", true), (.text("\u{E9}"), "e\u{301}", false), (.data(Data("ab".utf8)), "ab", true),
            (.data(Data("ab".utf8)), "abc", false),
            (.contains("ü"), "xüy", true), (.contains("z"), "xüy", false), (.contains(""), "", true),
            (.matching { $0.count == 3 }, "abc", true), (.matching("three bytes") { $0.count == 3 }, "ab", false),
        ] as [(BodyMatcher, String, Bool)])
    func bodies(matcher: BodyMatcher, body: String, isAnswered: Bool) async {
        let request = Endpoint<String>(.post, "/a", body: .data(Data(body.utf8), contentType: "text/plain"))
        #expect(await self.isAnswered(request) { MockURLProtocol.stub(.post, "/a", body: matcher, respond: .status(200)) } == isAnswered)
    }

    @Test("JSON in UTF-16 matches JSON in UTF-8", arguments: ["", "\u{FEFF}"], [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func wideJSON(mark: String, encoding: String.Encoding) async throws {
        MockURLProtocol.stub(.post, "/a", body: .json(["é": 1]), respond: .status(204))
        let body = try #require(#"\#(mark){"é":1}"#.data(using: encoding))
        try await provider.request(Endpoint<Void>(.post, "/a", body: .data(body, contentType: "application/json"))).value
    }

    @Test(
        "A stub reports a number of requests that it does not expect",
        arguments: [
            ({ @Sendable stub in stub.expecting(1) }, ["1 request", nil, "1 request", "1 request"]),
            ({ @Sendable stub in stub.expecting(1...) }, ["at least 1 request", nil, nil, nil]),
            ({ @Sendable stub in stub.expecting(1...Int.max) }, ["at least 1 request", nil, nil, nil]),
            ({ @Sendable stub in stub.expecting(...Int.max) }, [nil, nil, nil, nil]),
            ({ @Sendable stub in stub.expecting(...2) }, [nil, nil, nil, "at most 2 requests"]),
            ({ @Sendable stub in stub.expecting(1...2) }, ["1 to 2 requests", nil, nil, "1 to 2 requests"]),
            ({ @Sendable stub in stub.expecting(..<1) }, [nil, "0 requests", "0 requests", "0 requests"]),
            (
                { @Sendable stub in stub.expecting(1..<1) },
                [String](repeating: "an impossible number of requests (an empty range)", count: 4)
            ),
        ] as [(@Sendable (Stub) -> Stub, [String?])])
    func expecting(expect: @Sendable (Stub) -> Stub, reports: [String?]) async throws {
        try await MockURLProtocol.withScope("a scope") {
            let stub = expect(MockURLProtocol.stub(.get, "/a", fileID: "Tests/A.swift", line: 7, respond: .status(200)))
            for (used, text) in reports.enumerated() {
                if used > 0 { try await provider.request(Endpoint<Void>(.get, "/a")).value }
                let report = text.map { "The stub GET /a (Tests/A.swift:7) should answer \($0), but answered \(used)." }
                #expect(MockURLProtocol.problems.first.map { $0.text.components(separatedBy: " No request has")[0] } == report)
            }
            stub.expecting(3)
            try MockURLProtocol.verify()
        }
    }

    @Test("A sequence that was not used up is reported, unless the stub is optional or expects a number")
    func sequenceLeft() async throws {
        try await MockURLProtocol.withScope("a scope") {
            let answers = StubResponse.sequence([.status(200), .status(200), .status(200)])
            MockURLProtocol.stub(.get, "/a", fileID: "Tests/A.swift", line: 7, respond: answers)
            MockURLProtocol.stub(.get, "/b", isOptional: true, respond: answers)
            MockURLProtocol.stub(.get, "/c", times: 1, respond: answers)
            MockURLProtocol.stub(.get, "/d", respond: answers).expecting(1)
            for path in ["/a", "/b", "/c", "/d"] as [RequestPath] { try await provider.request(Endpoint<Void>(.get, path)).value }
            let start = "The stub GET /a (Tests/A.swift:7) has a sequence of 3 answers, and "
            #expect(MockURLProtocol.problems.map(\.text) == [start + "2 were not used."])
            try await provider.request(Endpoint<Void>(.get, "/a")).value
            #expect(MockURLProtocol.problems.map(\.text) == [start + "1 was not used."])
            try await provider.request(Endpoint<Void>(.get, "/a")).value
            try MockURLProtocol.verify()
        }
    }

    @Test("A closure on the whole request decides, may use the mock, and its report names it")
    func closure() async throws {
        try await MockURLProtocol.withScope("a scope") {
            let mock = MockURLProtocol.current
            let stub = MockURLProtocol.stub(
                "a large body", where: { $0.method == .post && $0.body.count > 10 && $0.headers["X-Own"] == "1" && mock.requests.isEmpty },
                respond: .status(413))
            let large = Endpoint<Void>(.post, "/a", headers: ["X-Own": "1"], body: .data(Data(count: 11), contentType: "a/b"))
            #expect(try await provider.failure(of: large).statusCode == 413)
            #expect(stub.requests.count == 1)
            let report = try await provider.failure(of: Endpoint<Void>(.get, "/b")).description
            #expect(report.contains("1. for a large body (APIProviderMocksTests/StubTests.swift:"), "\(report)")
            let difference = "closure expected  a large body\n               got       a request for which it returns false"
            #expect(report.contains(difference), "\(report)")
        }
    }

    /// Whether the stub that `stub` makes answers `request`.
    private func isAnswered(_ request: Endpoint<String>, stub: () -> Void) async -> Bool {
        await MockURLProtocol.withScope {
            stub()
            return (try? await provider.request(request).value) != nil
        }
    }
}
