import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("HAR files", tenMinutes)
struct HARFileTests {
    private let folder = TemporaryFolder()

    private func replay(_ entries: String..., forAnyHost: Bool = false) throws {
        try replay(text: #"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#, forAnyHost: forAnyHost)
    }

    private func replay(text: String, forAnyHost: Bool = false) throws {
        let file = folder.url("session.har")
        try Data(text.utf8).write(to: file)
        try MockURLProtocol.replay(contentsOf: file, RecordingOptions(forAnyHost: forAnyHost))
    }

    private func entry(
        _ method: String = "GET", _ url: String = "https://a.example/x", request: String = "",
        response: String = #""status":200,"content":{"text":"ok"}"#
    ) -> String {
        #"{"request":{"method":"\#(method)","url":"\#(url)"\#(request.isEmpty ? "" : ",")\#(request)},"response":{\#(response)}}"#
    }

    /// The status and the body that a request gets from these entries, or the error.
    private func outcome(
        _ entries: String..., method: HTTPMethod = .get, url: String = "https://a.example/x", headers: [String: String] = [:],
        body: String? = nil,
        forAnyHost: Bool = false
    ) async throws -> String {
        try await MockURLProtocol.withScope {
            try replay(text: #"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#, forAnyHost: forAnyHost)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            do {
                let request = try anyRequest(method, url, headers: headers, body: body.map { Data($0.utf8) })
                let response = try await provider.request(request).value
                return "\(response.statusCode) \(String(data: response.data, encoding: .utf8) ?? response.data.base64EncodedString())"
            } catch { return "\(error)" }
        }
    }

    @Test("The report of a request without an answer shows no value that the file's options hide")
    func hiddenNames() async throws {
        try await MockURLProtocol.withScope {
            let file = folder.url("session.har")
            try Data(#"{"log":{"entries":[\#(entry())]}}"#.utf8).write(to: file)
            try MockURLProtocol.replay(contentsOf: file, RecordingOptions(hiding: ["nickname"]))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let request = try anyRequest(.get, "https://a.example/y?nickname=annie&page=2", headers: [:], body: nil)
            let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
            let report = "\(try #require(error.underlying))"
            #expect(report.contains("/y?nickname=…&page=2") && !report.contains("annie"), "\(report)")
        }
    }

    // MARK: - Programs

    /// `_sends` says what an app sends, where it is not what the entry says, and `_gets` what it gets: a status and a body, or `error` and
    /// a part of the error.
    @Test(
        "Five entries as the program writes them answer",
        arguments: ["chrome", "firefox", "safari", "charles", "proxyman", "fiddler", "insomnia"])
    func programs(name: String) async throws {
        let file = try #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR"))
        let text = try String(contentsOf: file, encoding: .utf8).drop { $0 == "\u{FEFF}" }
        let log = try #require((JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["log"] as? [String: Any])
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(entries.count == 5)
        // In a scope of its own, so that the reports of the entries without a response are no issues of this test.
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(contentsOf: file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            for entry in entries.sorted(by: { $0["startedDateTime"] as? String ?? "" < $1["startedDateTime"] as? String ?? "" }) {
                let request = try #require(entry["request"] as? [String: Any])
                let sent = entry["_sends"] as? [String: Any] ?? [:]
                let (url, expected) = (
                    try #require(sent["url"] as? String ?? request["url"] as? String), try #require(entry["_gets"] as? String)
                )
                let outcome: String
                do {
                    let response = try await provider.request(
                        anyRequest(
                            HTTPMethod(rawValue: (request["method"] as? String ?? "").uppercased()), url,
                            headers: sent["headers"] as? [String: String] ?? [:], body: (sent["body"] as? String).map { Data($0.utf8) })
                    ).value
                    let isText = !expected.contains(" base64:")
                    let text = String(data: response.data, encoding: .utf8) ?? "no text"
                    outcome = "\(response.statusCode) \(isText ? text : "base64:\(response.data.base64EncodedString())")"
                } catch { outcome = "error \(error)" }
                let isExpected = expected.hasPrefix("error ") ? outcome.contains(expected.dropFirst(6)) : outcome == expected
                #expect(isExpected, "\(url): \(outcome)")
            }
        }
    }

    @Test(
        "What programs write",
        arguments: [
            // Charles has null, and Insomnia items without a value.
            (
                #""method":"GET","headers":[{"name":"A"},{"name":"B","value":null}]"#,
                #""status":200,"statusText":null,"content":{"text":"ok"}"#
            ),
            (#""method":"GET","bodySize":0"#, #""status":200,"content":{"text":"ok","encoding":"utf-8"}"#),
            // The headers of the program, and a user's token, do not matter, and Chrome gives a reason beside a status.
            (
                #""method":"GET","headers":[{"name":"Accept","value":"*/*"},{"name":"Authorization","value":"Bearer abcdef123456"}]"#,
                #""status":200,"_error":"net::ERR_ABORTED","content":{"text":"ok"}"#
            ),
            // A browser's 304 has the body of its cache.
            (#""method":"GET""#, #""status":304,"content":{"text":"ok"}"#),
            // chrome-har writes a field twice.
            (
                #""method":"GET","headers":[{"name":"accept","value":"a/b"},{"name":"Accept","value":"a/b"}]"#,
                #""status":200,"content":{"text":"ok"}"#
            ),
        ])
    func dialects(request: String, response: String) async throws {
        let entry = "{\"request\":{\(request),\"url\":\"https://a.example/x\"},\"response\":{\(response)}}"
        #expect(try await outcome(entry) == "200 ok")
    }

    @Test(
        "A Cookie that HTTP/2 split is the one that an app sends, and another cookie is red",
        arguments: [
            #"{"name":"cookie","value":"sid=aB3cD4eF5gH6"},{"name":"cookie","value":"lang=de; v=1"}"#,
            #"{"name":"Cookie","value":"sid=aB3cD4eF5gH6\nlang=de; v=1"}"#,
        ])
    func splitCookies(saved: String) async throws {
        let entry = entry(request: "\"headers\":[\(saved)]")
        #expect(try await outcome(entry, headers: ["Cookie": "sid=aB3cD4eF5gH6; lang=de; v=1"]) == "200 ok")
        let (login, me) = (entry, entry.replacingOccurrences(of: "/x", with: "/y"))
        try await MockURLProtocol.withScope {
            try replay(login, me)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            func send(_ path: String, _ cookie: String) async throws {
                let request = try anyRequest(.get, "https://a.example/\(path)", headers: ["Cookie": cookie], body: nil)
                _ = try await provider.request(request).value
            }
            try await send("x", "sid=one; lang=de")
            await #expect(throws: APIError.self) { try await send("y", "sid=two; lang=de") }
            try await send("y", "sid=one; lang=de")
        }
    }

    @Test(
        "A cookie with other names and values in it matches as a whole",
        arguments: ["u=a:1", "z=a=1", "u=a=1&b=2", "u=%7B%22a%22%3A1%7D", "b=_sn:1$_st:1518007060240", "a=z=1"])
    func cookiesWithPairs(cookie: String) async throws {
        let entry = entry(request: #""headers":[{"name":"Cookie","value":"\#(cookie)"}]"#)
        #expect(try await outcome(entry, headers: ["Cookie": cookie]) == "200 ok")
        #expect(try await outcome(entry, headers: ["Cookie": "\(cookie.prefix(2))other"]) == "200 ok")
    }

    @Test(
        "A raw character in a saved URL is the one that an app escapes",
        arguments: [
            ("?ids[]=1&q=caf%C3%A9", "?ids%5B%5D=1&q=caf%C3%A9"), ("/100%/caf%C3%A9", "/100%25/caf%C3%A9"), ("/%c3%a9%", "/%C3%A9%25"),
            ("?a=b|c&d=%7B", "?a=b%7Cc&d=%7B"), ("?q=é%20é", "?q=%C3%A9%20%C3%A9"),
        ])
    func rawCharacters(saved: String, sent: String) async throws {
        #expect(try await outcome(entry("GET", "https://a.example\(saved)"), url: "https://a.example\(sent)") == "200 ok")
    }

    @Test(
        "A text that was saved is read as UTF-8, whatever its charset was",
        arguments: ["text/plain; charset=ISO-8859-1", "text/plain;Charset=\"windows-1252\"; x=y", "text/plain"])
    func charsets(type: String) async throws {
        let type = type.replacingOccurrences(of: "\"", with: "\\\"")
        let saved =
            #""status":200,"headers":[{"name":"Content-Type","value":"\#(type)"}],"content":{"mimeType":"\#(type)","text":"Zürich"}"#
        let text = try await MockURLProtocol.withScope {
            try replay(entry(response: saved))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            return try await provider.request(Endpoint<String>(.get, .url(#require(URL(string: "https://a.example/x"))))).value
        }
        #expect(text == "Zürich")
    }

    @Test(
        "A file of a browser with a warm cache answers an app without one",
        arguments: [#""status":304,"content":{"text":"ok"}"#, #""status":200,"content":{"text":"ok"}"#])
    func warmCache(response: String) async throws {
        let conditions = #""headers":[{"name":"If-None-Match","value":"\"v1\""},{"name":"If-Modified-Since","value":"x"}]"#
        let saved = entry(request: conditions, response: response)
        for headers in [[:], ["If-None-Match": "\"v2\""], ["If-None-Match": "\"v1\"", "If-Modified-Since": "x"]] {
            #expect(try await outcome(saved, headers: headers) == "200 ok")
        }
        // An answer to a condition needs the condition.
        for status in [304, 206, 412, 416] {
            let answer = #""status":\#(status),"content":{"text":""}"#
            let outcome = try await outcome(entry(request: conditions, response: answer))
            #expect(outcome.contains("header if-none-match: expected"), "\(outcome)")
        }
    }

    @Test("What no HTTP request of an app gets is passed over")
    func others() async throws {
        let others = [
            entry("GET", "data:text/plain,x"), entry("CONNECT", "https://a.example"), entry("GET", "wss://a.example/x"),
            entry("GET", "https://a.example/x", response: #""status":101"#),
        ]
        #expect(try await outcome(others[0], others[1], others[2], others[3], entry()) == "200 ok")
    }

    @Test("Entries of another program answer in the order of their times, and those of a recording in the order of the file")
    func order() async throws {
        for (placeholders, expected) in [("", ["1", "2", "3", "3"]), (#""_placeholders":{},"#, ["2", "1", "3", "3"])] {
            let answers = try await MockURLProtocol.withScope {
                let entries = [("002", "2"), ("001", "1"), ("1", "3")].map { fraction, body in
                    #"{"startedDateTime":"2026-01-01T00:00:00.\#(fraction)Z","request":{"method":"GET","url":"https://a.example/x"},"response":{"#
                        + #""status":200,"content":{"text":"\#(body)"}}}"#
                }
                try replay(text: #"{"log":{\#(placeholders)"entries":[\#(entries.joined(separator: ","))]}}"#)
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                var answers: [String] = []
                for _ in 0..<4 { answers.append(try await provider.text(.get, "/x")) }
                return answers
            }
            #expect(answers == expected)
        }
    }

    @Test("In the file of another program, a header must match that tells two requests to one URL apart")
    func tellingHeaders() async throws {
        func answer(_ path: String, _ language: String) -> String {
            entry(
                "GET", "https://a.example/\(path)", request: #""headers":[{"name":"Accept","value":"\#(language)"}]"#,
                response: #""status":200,"content":{"text":"\#(language)"}"#)
        }
        let entries = (answer("two", "en"), answer("two", "de"))
        for language in ["de", "en"] {
            let found = try await outcome(entries.0, entries.1, url: "https://a.example/two", headers: ["Accept": language])
            #expect(found == "200 \(language)")
        }
        let forms = (answer("two", "\u{E9}"), answer("two", "e\u{301}"))
        for form in ["e\u{301}", "\u{E9}"] {
            let found = try await outcome(forms.0, forms.1, url: "https://a.example/two", headers: ["Accept": form])
            #expect(found.unicodeScalars.elementsEqual("200 \(form)".unicodeScalars))
        }
        #expect(try await outcome(answer("one", "en"), url: "https://a.example/one", headers: ["Accept": "fr"]) == "200 en")
        let failure = try await outcome(entries.0, entries.1, url: "https://a.example/two", headers: ["Accept": "fr"])
        #expect(failure.contains(#"header accept: expected "en", got "fr""#), "\(failure)")
    }

    @Test("In the file of another program, secrets of requests match any text, also those that the test hides")
    func secrets() async throws {
        var test = RecordedTest()
        let url = "https://a.example/x?account=12-real-34&api_key=abc123DEF"
        try test.write(#"{"log":{"entries":[\#(entry("GET", url, response: #""status":200,"content":{"text":"for abc123DEF"}"#))]}}"#)
        let failure = await test.failure { try await $0.text(.get, "/x?account=another&api_key=mine") }
        #expect(failure.contains("query account: expected"), "\(failure)")
        test.hidden = ["account"]
        #expect(try await test.run(.replay) { try await $0.text(.get, "/x?account=another&api_key=mine") } == "for abc123DEF")
    }

    @Test(
        "A body is compared, however it was saved",
        arguments: [
            (#""postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1 2"}]}"#, "a=1+2", "a=2"),
            // Nothing answers in place of a body that is not there as text.
            (#""postData":{"mimeType":"multipart/form-data; boundary=zz","params":[{"name":"a","value":"1"}]}"#, "", "a=1"),
            (#""postData":{"mimeType":"application/json","text":"{\"a\":1}"}"#, "{ \"a\": 1 }", "{\"a\":2}"),
            (#""postData":{"mimeType":"application/octet-stream","text":"AP8=","_encoding":"base64"}"#, "", "x"),
        ])
    func bodies(saved: String, same: String, other: String) async throws {
        let type = same.hasPrefix("{") ? "application/json" : "application/x-www-form-urlencoded"
        for (body, isAnswered) in [(same, !same.isEmpty), (other, false)] {
            let outcome = try await outcome(entry("POST", request: saved), method: .post, headers: ["Content-Type": type], body: body)
            #expect((outcome == "200 ok") == isAnswered, "\(outcome)")
        }
    }

    @Test("A binary body comes back byte for byte")
    func binary() async throws {
        let test = RecordedTest()
        let data = Data([0, 0xFF, 0xFE, 0x80])
        let server = answering(headers: ["Content-Type": "image/png"]) { (try? $0.body?.data()) ?? Data() }
        for mode in [Recording.Mode.record, .replay] {
            let answer = try await test.run(mode, from: server) {
                try await $0.request(anyRequest(.post, "https://a.example/x", headers: ["Content-Type": "image/png"], body: data)).value
                    .data
            }
            #expect(answer == data)
        }
    }

    // MARK: - Errors

    @Test(
        "An entry without a response fails its request, and says why",
        arguments: [
            ("null", "the recording has no response"), (#"{"status":-1}"#, "-1 is not an HTTP status"),
            (#"{"status":200,"content":{"size":812}}"#, "its body was not saved; export the recording with the bodies of responses"),
            (#"{"status":200,"content":{"encoding":"base64","text":"?"}}"#, "its body is not Base64"),
            (#"{"status":200,"content":{"encoding":"zip","text":"?"}}"#, "the encoding \"zip\" of its body is unknown"),
            (
                #"{"status":200,"headers":[{"name":"Content-Encoding","value":"gzip"}],"content":{"encoding":"base64","text":"H4sIAAAA"}}"#,
                "its body was saved compressed"
            ),
        ])
    func unusable(response: String, reason: String) async throws {
        let failure = try await outcome(#"{"request":{"method":"GET","url":"https://a.example/x"},"response":\#(response)}"#)
        #expect(failure.contains("session.har: log.entries[0] has no usable response: \(reason)."), "\(failure)")
    }

    @Test(
        "A file that cannot be read is an error with one sentence, and with the place",
        arguments: [
            ("", "session.har, line 1: this is not JSON."), ("<html>", "session.har, line 1: this is not JSON."),
            (String(repeating: "[", count: 200_000), "session.har, line 1: this is not JSON."),
            ("{}", "session.har: log.entries is missing, or of another type than in HAR 1.2."),
            ("[]", "session.har: log.entries is missing, or of another type than in HAR 1.2."),
            (#"{"log":{"entries":{}}}"#, "session.har: log.entries is missing, or of another type than in HAR 1.2."),
            (
                #"{"log":{"entries":[{"request":{"method":"GET","url":7}}]}}"#,
                "session.har: log.entries[0].request.url is missing, or of another type than in HAR 1.2."
            ),
            (
                #"{"log":{"entries":[{"request":{"url":"https://a.example/"}}]}}"#,
                "session.har: log.entries[0].request.method is missing, or of another type than in HAR 1.2."
            ),
            (
                #"{"log":{"_placeholders":{"token-001":7},"entries":[]}}"#,
                "session.har: log._placeholders is missing, or of another type than in HAR 1.2."
            ),
            ("{\"log\":{\n\"a\":\"\\ud800\",\n\"entries\":[]}}\n", "session.har: a text in it is not Unicode."),
            ("{\"log\":{\n\"entries\":[\n}}", "session.har, line 3: this is not JSON."),
            ("{\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> x\r\n}", "session.har, line 2: this is not JSON."),
        ])
    func broken(text: String, sentence: String) throws {
        let error = #expect(throws: (any Error).self) { try replay(text: text) }
        #expect(error?.localizedDescription == sentence)
    }

    @Test(
        "Any file is an error with one sentence, or is replayed", .longComputing, arguments: ["chrome", "firefox", "charles", "insomnia"])
    func fuzz(name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let sample = try #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR"))
        let (bytes, options) = ([UInt8](try Data(contentsOf: sample)), RecordingOptions())
        var replayed = 0
        for _ in 0..<rounds(40) {
            var broken = bytes
            for _ in 0..<Int.random(in: 0...3, using: &random) where !broken.isEmpty {
                let place = Int.random(in: 0..<broken.count, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: broken[place] = UInt8.random(in: 0...255, using: &random)
                case 1: broken.removeSubrange(place..<min(broken.count, place + 20))
                case 2: broken[place] = Array("{}[]\",:0\\".utf8).randomElement(using: &random) ?? 0
                case 3: broken.removeSubrange(place...)
                default: broken.insert(contentsOf: Array("\"\\ud800\"".utf8), at: place)
                }
            }
            do {
                var replay = Replay(try HARFile(Data(broken), name: "session.har"), options)
                for entry in replay.entries {
                    guard case .success(let index) = replay.entry(for: entry.exchange),
                        let response = replay.entries[index].exchange.response
                    else { continue }
                    let writer = ResponseWriter(placeholders: replay.placeholders, texts: replay.bindings.texts, elapsed: 100)
                    _ = (writer.headers(response.headers), writer.body(response.body, response.type))
                    replayed += 1
                }
            } catch {
                #expect("\(error)".hasPrefix("session.har") && "\(error)".hasSuffix("."), "seed \(seed): \(error)")
            }
        }
        #expect(replayed > 2, "seed \(seed): hardly anything was replayed")
    }
}
