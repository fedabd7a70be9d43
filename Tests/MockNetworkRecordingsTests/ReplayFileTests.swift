import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Files of other programs", .mockNetwork, tenMinutes)
struct ReplayFileTests {
    private let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
    private let folder = TemporaryFolder()

    private func replaySample(_ name: String) throws {
        try MockURLProtocol.replay(contentsOf: #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR")))
    }

    private func replay(_ entries: String..., forAnyHost: Bool = false) throws {
        try replay(text: #"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#, forAnyHost: forAnyHost)
    }

    private func replay(text: String, forAnyHost: Bool = false) throws {
        let file = folder.url("session.har")
        try Data(text.utf8).write(to: file)
        try MockURLProtocol.replay(contentsOf: file, forAnyHost: forAnyHost)
    }

    private func get(_ url: String, headers: [String: String] = [:]) async throws -> APIResponse {
        try await provider.request(anyRequest(.get, url, headers: headers)).value
    }

    private func text(_ url: String, headers: [String: String] = [:]) async throws -> String {
        String(decoding: try await get(url, headers: headers).data, as: UTF8.self)
    }

    /// The error of a request in a scope of its own, so that its report is no issue of this test.
    private func failure(_ url: String, method: HTTPMethod = .get, json: String? = nil, in text: String) async throws -> String {
        try await MockURLProtocol.withScope {
            try replay(text: #"{"log":{"entries":[\#(text)]}}"#)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let request = try anyRequest(
                method, url, headers: json == nil ? [:] : ["Content-Type": "application/json"], body: json.map { Data($0.utf8) })
            return "\(try await #require(throws: APIError.self) { try await provider.request(request).value })"
        }
    }

    @Test("Chrome: pseudo-headers, encodings that are undone, Base64, WebSockets and data URLs, failed and blocked requests")
    func chrome() async throws {
        try replaySample("chrome")
        let items = try await get("https://shop.example.com/api/items?sort=price%20up&page=1")
        #expect(String(decoding: items.data, as: UTF8.self) == "{\"items\":[{\"name\":\"Grüße 🌍\",\"price\":3}],\"total\":1}")
        #expect(items.headers["Content-Encoding"] == nil && items.headers["Content-Length"] == "\(items.data.count)")
        #expect(items.headers["X-Cache"] == "HIT")
        #expect(try await get("https://shop.example.com/dot.gif").data.starts(with: Data("GIF89a".utf8)))
        let blocked = try await #require(throws: APIError.self) { try await get("https://ads.example.net/b.js") }
        #expect("\(blocked)".contains("net::ERR_BLOCKED_BY_CLIENT"))
    }

    @Test("Firefox: several fields in one, on a line each, and redirects")
    func firefox() async throws {
        try replaySample("firefox")
        let request = try anyRequest(.post, "https://shop.example.com/login", body: Data("user=me&remember=1".utf8))
        let response = try await provider.request(request).value
        #expect(String(decoding: response.data, as: UTF8.self) == "account")
        #expect(MockURLProtocol.requests.map(\.path) == ["/login", "/account"])
    }

    @Test("Safari: a BOM, missing fields, several entries of one URL, an aborted request")
    func safari() async throws {
        try replaySample("safari")
        for text in ["pending", "done", "done"] { #expect(try await self.text("https://shop.example.com/status") == text) }
        await #expect(throws: APIError.self) { try await get("https://shop.example.com/aborted") }
    }

    @Test("Charles: null, line breaks in Base64, a HEAD, fields that come twice")
    func charles() async throws {
        try replaySample("charles")
        let head = try await provider.request(anyRequest(.head, "http://shop.example.com/file.bin")).value
        #expect(head.headers["Content-Length"] == "4096" && head.headers["Vary"] == "Accept, Cookie")
        let part = try await get("http://shop.example.com/file.bin")
        #expect(part.statusCode == 206 && part.data == Data([0x00, 0xFF, 0xFE, 0x80]))
    }

    @Test("Insomnia: items without a value, several of one name")
    func insomnia() async throws {
        try replaySample("insomnia")
        let body = Data(#"{ "name" : "x" }"#.utf8)
        let url = "http://localhost:8080/v1/items/7?tag=a&tag=b&dry="
        let response = try await provider.request(anyRequest(.put, url, headers: ["Content-Type": "application/json"], body: body)).value
        #expect(response.statusCode == 422)
    }

    @Test(
        "What programs write",
        arguments: [
            // Proxyman has methods in lower case, and Polly.JS arrays in headers.
            (#""method":"get","url":"https://a.example/x""#, #""status":200,"content":{"text":"ok"}"#),
            (
                #""method":"GET","url":"https://a.example/x""#,
                #""status":200,"headers":[{"name":"A","value":["b"]},{"value":"c"},null,{"name":"D","value":7}],"content":{"text":"ok"}"#
            ),
            (#""method":"GET","url":"https://a.example/x","bodySize":0"#, #""status":200,"content":{"text":"ok","encoding":"utf-8"}"#),
            (
                #""method":"GET","url":"https://a.example/x","headers":[],"cookies":[{"name":"a"}]"#,
                #""status":200,"content":{"text":"b2s=","encoding":"BASE64","size":2}"#
            ),
            // A user's token is a secret of the request, and matches any.
            (
                #""method":"GET","url":"https://a.example/x","headers":[{"name":"Authorization","value":"Bearer abcdef123456"}]"#,
                #""status":200,"content":{"text":"ok"}"#
            ),
        ])
    func kinds(request: String, response: String) async throws {
        try replay("{\"request\":{\(request)},\"response\":{\(response)}}")
        #expect(try await text("https://a.example/x") == "ok")
    }

    @Test("Entries answer in the order of their times, and Vary counts where two entries differ")
    func order() async throws {
        func entry(_ time: Int, _ language: String, _ text: String) -> String {
            #"{"startedDateTime":"2026-01-01T00:00:0\#(time)Z","request":{"method":"GET","url":"https://a.example/\#(language)","#
                + #""headers":[{"name":"Accept-Language","value":"\#(language)"}]},"response":{"status":200,"headers":[{"name":"Vary","#
                + #""value":"Accept-Language"}],"content":{"text":"\#(text)"}}}"#
        }
        try replay(entry(2, "en", "second"), entry(1, "en", "first"))
        for text in ["first", "second", "second"] { #expect(try await self.text("https://a.example/en") == text) }
    }

    @Test("A replay waits for nothing")
    func immediate() async throws {
        try replay(
            #"{"time":5000,"request":{"method":"GET","url":"https://a.example/x"},"response":{"status":200,"content":{"text":"1"}}}"#)
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: TestScheduler()))
        #expect(try await provider.request(anyRequest("https://a.example/x")).value.data == Data("1".utf8))
    }

    @Test("A form as params, and a body that was not saved")
    func bodies() async throws {
        let form =
            #""postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1 2"},{"name":"b","value":"%c3%a4%201"},"#
            + #"{"name":"password","value":"x"}]}"#
        try replay(
            #"{"request":{"method":"POST","url":"https://a.example/f",\#(form)},"response":{"status":201}}"#,
            #"{"request":{"method":"POST","url":"https://a.example/u","bodySize":-1},"response":{"status":202}}"#)
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        let sent = try anyRequest(.post, "https://a.example/f", headers: type, body: Data("password=other&b=%C3%A4+1&a=1+2".utf8))
        #expect(try await provider.request(sent).value.statusCode == 201)
        #expect(try await provider.request(anyRequest(.post, "https://a.example/u", body: Data("any".utf8))).value.statusCode == 202)
    }

    @Test(
        "A body that was not saved is any, and one that is said to be empty is empty",
        arguments: [
            ("POST", #""bodySize":-1"#, true), ("POST", #""bodySize":-1,"postData":{"mimeType":"","text":""}"#, true),
            ("POST", #""bodySize":7,"postData":{"mimeType":"text/plain"}"#, true),
            ("POST", #""bodySize":7,"postData":{"mimeType":"application/x-www-form-urlencoded"}"#, true),
            ("POST", #""postData":{"mimeType":"multipart/form-data","params":[{"name":"a","value":"1"}]}"#, true),
            ("POST", #""bodySize":0"#, false),
            ("POST", #""bodySize":0,"postData":{"mimeType":"","text":""}"#, false),
            ("POST", #""bodySize":-1,"postData":{"mimeType":"text/plain","text":""}"#, false), ("GET", #""bodySize":-1"#, false),
            ("GET", #""headers":[]"#, false), ("GET", #""bodySize":1"#, true),
        ])
    func unsaved(method: String, body: String, isAny: Bool) async throws {
        for (sent, isAnswered) in [(nil, true), (Data("any".utf8), isAny)] {
            try await MockURLProtocol.withScope {
                try replay(#"{"request":{"method":"\#(method)","url":"https://a.example/u",\#(body)},"response":{"status":202}}"#)
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                let request = try anyRequest(HTTPMethod(rawValue: method), "https://a.example/u", body: sent)
                let answer = try? await provider.request(request).value
                #expect((answer != nil) == isAnswered)
            }
        }
    }

    @Test(
        "An entry without a response fails its request and says why",
        arguments: [
            ("null", "the recording has no response"), (#"{"status":-1}"#, "-1 is not an HTTP status"),
            (#"{"status":200,"content":{"size":812}}"#, "its body was not saved; export the recording with the bodies of responses"),
            (#"{"status":"200"}"#, "expected a number at log.entries[0].response.status, found a string"),
            ("{}", "log.entries[0].response.status is missing"),
            (#"{"status":200,"content":{"encoding":"base64","text":"?"}}"#, "this is not Base64 at log.entries[0].response.content.text"),
            (
                #"{"status":200,"content":{"encoding":"zip","text":"?"}}"#,
                "the encoding \"zip\" is unknown at log.entries[0].response.content.encoding"
            ),
        ])
    func unusable(response: String, reason: String) async throws {
        let entry = #"{"request":{"method":"GET","url":"https://a.example/bad"},"response":\#(response)}"#
        let failure = try await failure("https://a.example/bad", in: entry)
        #expect(failure.contains("session.har: log.entries[0] has no usable response: \(reason)."), "\(failure)")
    }

    @Test(
        "An entry whose request cannot be read answers nothing, and the report says why",
        arguments: [
            (#"{"request":{"method":"GET","url":7}}"#, "expected a string at log.entries[0].request.url, found a number"),
            (#"{"request":{"url":"https://a.example/bad"}}"#, "log.entries[0].request.method is missing"),
            (#"{"request":{"method":"GET","url":"no URL"}}"#, "this is not a URL at log.entries[0].request.url"),
            (#"{"request":{"method":"GET","url":"http:///x"}}"#, "the URL has no host at log.entries[0].request.url"),
            ("7", "expected an object at log.entries[0], found a number"),
        ])
    func unreadable(entry: String, reason: String) async throws {
        let failure = try await failure("https://a.example/bad", in: entry)
        #expect(failure.contains("its request cannot be read: \(reason)."), "\(failure)")
    }

    @Test(
        "A broken file is an error with one sentence, and with the line",
        arguments: [
            ("", "session.har: the file is empty."), ("<html>", "session.har, line 1: this is not JSON, but HTML or XML."),
            ("{}", "session.har: this is not a HAR file, because it has no \"log\"."),
            (#"{"log":{}}"#, "session.har: log.entries is missing."),
            ("[]", "session.har: expected an object at the top level, found an array."),
            (#"{"log":{"entries":{}}}"#, "session.har: expected an array at log.entries, found an object."),
            ("{\"log\":{\n\"entries\":[\n}}", "session.har, line 3: this is not JSON."),
            ("{\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> x\r\n}", "session.har, line 2: there is an unresolved merge conflict."),
        ])
    func broken(text: String, sentence: String) throws {
        let error = #expect(throws: (any Error).self) { try replay(text: text) }
        #expect(error?.localizedDescription == sentence)
    }

    @Test("For any host, links and redirects to the recorded origin lead to the host that is asked")
    func anyHost() async throws {
        let link = #"<https://a.example/items?page=2>; rel=\"next\", <https://b.example/x>; rel=help"#
        try replay(
            #"{"request":{"method":"GET","url":"https://a.example/items"},"response":{"status":200,"headers":[{"name":"link","value":"\#(link)"}]}}"#,
            forAnyHost: true)
        let items = try await get("http://localhost:8080/items")
        #expect(try items.link("next")?.absoluteString == "http://localhost:8080/items?page=2")
    }

    @Test(
        "The report shows JSON as it is written, long texts around their difference, and the cure that fits",
        arguments: [
            (#"{"id":"1"}"#, #"{"id":1}"#, [#"id: expected "1", got 1"#], ["ignoring"]),
            (#"{"id":null}"#, #"{"id":"null"}"#, [#"id: expected null, got "null""#], ["ignoring"]),
            (#"{"id":1}"#, #"{"id":2}"#, ["id: expected 1, got 2", #"record again with ignoring: ["id"]"#], ["…"]),
            (#"{"a":[1]}"#, "", [#"body: expected JSON, got no body"#], ["ignoring"]),
            (
                #"{"query":"query { viewer { login name email company location bio createdAt followers following avatar } }"}"#,
                #"{"query":"query { viewer { login name email company location bio createdAt followers following URL } }"}"#,
                [#"query: expected "…createdAt followers following avatar } }", got "…createdAt followers following URL } }""#], []
            ),
            (#"{"c":1,"a":1,"b":1}"#, #"{"b":2,"c":2,"a":2}"#, ["a: expected 1, got 2\n    b: expected 1, got 2\n    c: expected"], []),
            (#"{"a":"b\nc"}"#, #"{"a":"b c"}"#, [#"a: expected "b\nc", got "b c""#], []),
        ])
    func differences(recorded: String, sent: String, shown: [String], hidden: [String]) async throws {
        let entry =
            #"{"request":{"method":"POST","url":"https://a.example/","postData":{"mimeType":"application/json","text":"#
            + String(decoding: recorded.jsonString, as: UTF8.self) + #"}},"response":{"status":204}}"#
        let failure = try await failure("https://a.example/", method: .post, json: sent.isEmpty ? nil : sent, in: entry)
        for text in shown { #expect(failure.contains(text), "\(failure)") }
        for text in hidden + ["paste"] { #expect(!failure.contains(text), "\(failure)") }
    }

    @Test("The report shows texts in quotes, and other bodies by their kind")
    func differentBodies() async throws {
        let entry =
            #"{"request":{"method":"POST","url":"https://a.example/","postData":{"mimeType":"text/plain","text":"one two"}},"#
            + #""response":{"status":204}}"#
        func report(_ body: Data, _ type: String) async throws -> String {
            try await MockURLProtocol.withScope {
                try replay(entry)
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                let request = try anyRequest(.post, "https://a.example/", headers: ["Content-Type": type], body: body)
                return "\(try await #require(throws: APIError.self) { try await provider.request(request).value })"
            }
        }
        for (body, type, got) in [
            (Data("one 2".utf8), "text/plain", #""one 2""#), (Data([0xFF, 0, 1]), "image/png", "3 bytes"), (Data(), "", "no body"),
        ] {
            let report = try await report(body, type)
            #expect(report.contains(#"body: expected "one two", got \#(got)"#), "\(report)")
        }
    }

    @Test("A request to another host is told how to be answered")
    func otherHost() async throws {
        let failure = try await failure(
            "https://b.example/", in: #"{"request":{"method":"GET","url":"https://a.example/"},"response":{"status":204}}"#)
        #expect(failure.contains(#"host: expected "https://a.example", got "https://b.example""#), "\(failure)")
        #expect(failure.contains("pass forAnyHost: true"), "\(failure)")
    }

    @Test("The report names the nearest entries and what differs, a star is a star, and a plus is a space")
    func report() async throws {
        let entries = ["a=1&b=2&c=3", "a=1&x=9"].map {
            #"{"request":{"method":"GET","url":"https://a.example/?\#($0)"},"response":{"status":204}}"#
        }
        let failure = try await failure("https://a.example/?a=1&b=2", in: entries.joined(separator: ","))
        let places = ["entries[0]", "entries[1]"].map { failure.range(of: $0)?.lowerBound }
        #expect(try #require(places[0]) < #require(places[1]) && failure.contains("query c: expected \"3\", got none"), "\(failure)")
        try replay(
            #"{"request":{"method":"GET","url":"https://a.example/*"},"response":{"status":201}}"#,
            #"{"request":{"method":"GET","url":"https://a.example/q?q=a+b&r=1%2B1"},"response":{"status":202}}"#)
        #expect(try await get("https://a.example/*").statusCode == 201)
        #expect(try await get("https://a.example/q?r=1%2B1&q=a%20b").statusCode == 202)
    }
}
