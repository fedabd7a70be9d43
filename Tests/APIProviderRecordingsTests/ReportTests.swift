import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("The report on a request that no entry answers", tenMinutes)
struct ReportTests {
    private func failure(_ recorded: RecordedExchange..., sending sent: RecordedExchange, _ options: RecordingOptions = RecordingOptions())
        throws
        -> Replay.Failure
    {
        var replay = NewRecording(recorded, options).replay
        return try #require(#expect(throws: Replay.Failure.self) { try replay.entry(for: sent).get() })
    }

    @Test("It names the three nearest entries, the one with the fewest lines that differ first, and shows four lines of each")
    func nearest() throws {
        let queries = ["a=1&b=2&c=3", "p=9&q=9&r=9&s=9&t=9", "a=1&x=9&y=9&z=9&w=9", "a=1&b=2&d=4&e=5"]
        let entries = queries.enumerated().map { exchange("GET", "https://a.example/?\($1)", at: $0) }
        let sent = exchange("GET", "https://a.example/?a=1&b=2")
        let report = try failure(entries[0], entries[1], entries[2], entries[3], sending: sent).description
        #expect(
            report == """
                None of the 4 entries of the recording answers it. The nearest:

                    GET https://a.example/ (session.har: log.entries[0])
                    query c: expected "3", got nothing

                    GET https://a.example/ (session.har: log.entries[3])
                    query d: expected "4", got nothing
                    query e: expected "5", got nothing

                    GET https://a.example/ (session.har: log.entries[2])
                    query b: expected nothing, got "2"
                    query w: expected "9", got nothing
                    query x: expected "9", got nothing
                    query y: expected "9", got nothing
                    and 1 more
                """)
    }

    @Test(
        "It shows values as they are written, and long texts around their difference",
        arguments: [
            (#"{"id":"1"}"#, #"{"id":1}"#, #"body.id: expected "1", got 1"#),
            (#"{"id":null}"#, #"{"id":"null"}"#, #"body.id: expected null, got "null""#),
            (#"{"a":[1]}"#, "", "body: expected an object, got nothing"),
            (#"{"a":"b\nc"}"#, #"{"a":"b c"}"#, #"body.a: expected "b\nc", got "b c""#),
            (#"{"a":"é"}"#, "{\"a\":\"e\u{301}\"}", #"body.a: expected "\"\u{00E9}\"", got "\"e\u{0301}\"""#),
            (
                "{\"a\":\"\(String(repeating: "x", count: 300)) b\"}", "{\"a\":\"\(String(repeating: "x", count: 300)) c\"}",
                "body.a: expected …\(String(repeating: "x", count: 49)) b\", got …\(String(repeating: "x", count: 49)) c\""
            ),
        ])
    func values(recorded: String, sent: String, line: String) throws {
        let report = try failure(sending(recorded), sending: sending(sent)).description
        #expect(report.contains("    \(line)\n") || report.hasSuffix("    \(line)"), "\(report)")
        #expect(!report.contains("ignoring"), "\(report)")
    }

    @Test("It shows no secret of the request")
    func secrets() throws {
        let login = exchange("POST", "https://a.example/login", answer: #"{"token":"abcDEF123456xyz"}"#)
        var recorded = sending(#"{"token":"abcDEF123456xyz","n":1}"#, headers: ["Cookie": "sid=annAAAA11112222xyz"], at: 1)
        recorded.markedSecrets = ["joe"]
        var sent = sending(
            #"{"token":"staleDEF123456","n":"my note"}"#, headers: ["Cookie": "sid=bobBBBB11112222xyz", "Authorization": "Bearer k3y9"])
        sent.markedSecrets = ["my note"]
        var replay = NewRecording([login, recorded]).replay
        _ = replay.entry(for: login)
        let failure = try #require(#expect(throws: Replay.Failure.self) { try replay.entry(for: sent).get() }).description
        #expect(failure.contains(#"body.token: expected "token-001", got another text"#), "\(failure)")
        #expect(
            failure.contains("body.n: expected 1, got another text")
                && failure.contains("header authorization: expected nothing, got another text"))
        for text in ["stale", "my note", "bobBBB", "k3y9", "abcDEF"] { #expect(!failure.contains(text), "\(failure)") }
    }

    @Test(
        "What the test hides is in no report: not in the copy of the request, not in the attached text, and not in a printed request",
        arguments: [
            ("application/json", #"{"code":"Elm 5","n":1}"#), ("application/json", #"{"n":1,"code":{"a":[{"b":"Elm 5"}],"c":77731}}"#),
            ("application/json", #"{"n":"{\"code\":[\"Elm 5\"]}"}"#), ("application/json", #"{"name":"code","value":"Elm 5"}"#),
            ("application/json", #"{"query":"mutation { a(code: \"Elm 5\", n: 1) { b } }"}"#), ("application/json", "{\"code\":77731}"),
            ("application/x-ndjson", "{\"n\":1}\n{\"code\":{\"a\":\"Elm 5\"}}\n"), ("text/plain", "Log: code=Elm 5, n=1"),
            ("text/plain", "Log: {\"code\":{\"a\":\"Elm 5\"}}"),
            ("text/xml", "<a><n:code xmlns:n=\"u\"><b c=\"Elm 5\">Elm 5</b></n:code></a>"),
            ("application/x-www-form-urlencoded", "n=1&code=Elm+5"), ("application/x-www-form-urlencoded", "n=1&code%5Ba%5D=Elm%205"),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"user[code]\"\r\n\r\nElm 5\r\n--b--\r\n"
            ),
        ])
    func hidden(type: String, body: String) async throws {
        var test = RecordedTest()
        test.hidden = ["code"]
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.post, "/a", json: "{}") }
        let texts = Log<String>()
        let report = await test.failure { provider in
            defer {
                texts.append(MockURLProtocol.requests.map { "\($0)" }.joined())
                texts.append(MockURLProtocol.requestsAsText ?? "")
            }
            return try await provider.text(.post, "/a?code=Elm%205", headers: ["Code": "Elm 5"], json: body, type: type)
        }
        for text in texts.entries + [report] {
            #expect(text.contains("/a") && !text.contains("Elm") && !text.contains("77731"), "\(text)")
        }
    }

    @Test("A placeholder that the app sends as it is, where it stands for another text, is told, and not as another host")
    func placeholder() throws {
        func user(_ cookie: String, _ path: String) -> RecordedExchange {
            exchange("DELETE", "https://a.example/users/\(path)", headers: ["Cookie": "uid=\(cookie)"])
        }
        let report = try failure(user("Xq7user8412345zz", "Xq7user8412345zz"), sending: user("other-User-9", "cookie-001")).description
        #expect(report.contains(#"path 2: expected the text that it stands for, got "cookie-001""#), "\(report)")
        #expect(!report.contains("forAnyHost"), "\(report)")
    }

    @Test("A request to another host is told how to be answered")
    func otherHost() throws {
        let report = try failure(exchange("GET", "https://a.example/"), sending: exchange("GET", "https://b.example/")).description
        #expect(
            report.contains(#"host: expected "https://a.example", got "https://b.example""#) && report.contains("pass forAnyHost: true"),
            "\(report)")
    }

    @Test(
        "A value that the app makes anew in each run is told as such, with the cure, and not with another recording",
        arguments: [
            ("PUT", "/notes/6f9619ff-8b86-4011-b42d-00cf4fc964ff", "/notes/7f9619ff-8b86-4011-b42d-00cf4fc964ff", "{}", "{}", "path 2"),
            (
                "POST", "/", "/", #"{"a":{"clientMutationId":"a1b2c3d4e5f6"}}"#, #"{"a":{"clientMutationId":"b1b2c3d4e5f6"}}"#,
                "a.clientMutationId"
            ),
            ("POST", "/?sent=NOW", "/?sent=NOW1", "{}", "{}", "sent"), ("POST", "/", "/", #"{"at":"ISO"}"#, #"{"at":"ISO1"}"#, "at"),
        ])
    func madeAnew(method: String, recorded: String, sent: String, body: String, sentBody: String, name: String) throws {
        func filled(_ text: String) -> String {
            let now = Date(), style = Date.ISO8601FormatStyle()
            return text.replacingOccurrences(of: "NOW1", with: "\(Int(now.timeIntervalSince1970) + 5)")
                .replacingOccurrences(of: "NOW", with: "\(Int(now.timeIntervalSince1970))")
                .replacingOccurrences(of: "ISO1", with: (now + 5).formatted(style)).replacingOccurrences(
                    of: "ISO", with: now.formatted(style))
        }
        func request(_ path: String, _ body: String) -> RecordedExchange {
            var request = sending(filled(body), to: "https://a.example\(filled(path))")
            request.method = method
            return request
        }
        let failure = try failure(request(recorded, body), sending: request(sent, sentBody))
        #expect(
            failure.description.contains(
                "The app creates this in each run, so recording it again does not help: pass ignoring: [\"\(name)\"]."),
            "\(failure.description)")
        #expect(!failure.isCuredByRecording)
        var replay = NewRecording([request(recorded, body)], RecordingOptions(ignoring: [name])).replay
        #expect(throws: Never.self) { try replay.entry(for: request(sent, sentBody)).get() }
    }

    @Test("The name of a file that is made anew may be given")
    func fileName() throws {
        func upload(_ name: String) -> RecordedExchange {
            let body = "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"\(name).png\"\r\n\r\nx\r\n--b--\r\n"
            return exchange("POST", headers: ["Content-Type": "multipart/form-data; boundary=b"], body: body)
        }
        let report = try failure(upload(UUID().uuidString), sending: upload(UUID().uuidString)).description
        #expect(report.contains("give the upload a fileName:, or pass ignoring: [\"photo.filename\"]"), "\(report)")
    }

    @Test(
        "Anything else is a changed program: numbers, old dates, words of one length, and whole bodies",
        arguments: [
            (#"{"temperature":0.5}"#, #"{"temperature":0.7}"#), (#"{"from":"2026-01-01T00:00:00Z"}"#, #"{"from":"2026-02-01T00:00:00Z"}"#),
            (#"{"name":"abcdef"}"#, #"{"name":"ghijkl"}"#), (#"{"id":1700000000}"#, #"{"id":1700000001}"#),
            ("a1b2c3d4e5f6", "b1b2c3d4e5f6"),
            (#"{"id":"a1b2c3d4e5f6","n":1}"#, #"{"id":"b1b2c3d4e5f6","n":2}"#),
        ])
    func changed(recorded: String, sent: String) throws {
        let failure = try failure(sending(recorded), sending: sending(sent))
        #expect(failure.isCuredByRecording && !failure.description.contains("in each run"), "\(failure.description)")
    }

    @Test("It says how to record again, unless that does not help")
    func hint() async throws {
        let test = RecordedTest()
        try await test.run(.record, from: server { _ in "[1]" }) {
            _ = try await $0.text(.get, "/a?id=6f9619ff-8b86-4011-b42d-00cf4fc964ff")
        }
        let changed = await test.failure { try await $0.text(.get, "/b") }
        #expect(changed.contains("If the test is right, record it again: MOCK_NETWORK=record swift test --filter session"), "\(changed)")
        let anew = await test.failure { try await $0.text(.get, "/a?id=7f9619ff-8b86-4011-b42d-00cf4fc964ff") }
        #expect(!anew.contains("record it again:"), "\(anew)")
    }
}
