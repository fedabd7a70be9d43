import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Replays, by their rules", tenMinutes)
struct ReplayRulesTests {
    private let test = RecordedTest()

    @Test("Of the entries that match, the one whose headers are most alike answers")
    func mostAlike() async throws {
        let recorded = [["X-A": "1"], ["X-A": "1", "X-B": "1", "X-C": "1", "X-D": "1"], ["X-B": "1"]]
        let server = server { "\($0.headers.filter { $0.name.hasPrefix("X-") }.map(\.name).sorted())" }
        try await test.run(.record, from: server) { provider in
            for headers in recorded { _ = try await provider.text(.get, "/a", headers: headers) }
        }
        for (sent, index) in [(["X-A": "1", "X-B": "1"], 1), (["X-A": "1"], 0), (["X-B": "1"], 2), (["X-A": "1", "X-E": "1"], 0)] {
            let answer = try await test.run(.replay) { try await $0.text(.get, "/a", headers: sent) }
            #expect(answer == "\(recorded[index].keys.sorted())", "\(sent)")
        }
    }

    @Test("A secret that is a key of JSON is the same text wherever its name stands")
    func keys() throws {
        func exchange(_ token: String, _ other: String) -> RecordedExchange {
            var exchange = RecordedExchange(method: "POST", url: "https://a.example/")
            exchange.headers = [
                .init(name: "Authorization", value: "Bearer \(token)"), .init(name: "Content-Type", value: "application/json"),
            ]
            exchange.body = Array(#"{"\#(token)":{"kind":1},"again":"\#(other)"}"#.utf8)
            exchange.response = .init(status: 200, headers: [], body: [])
            exchange.order = (0, 1)
            return exchange
        }
        let recording = try NewRecording([exchange("abc123DEF456", "abc123DEF456")], RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.problems.isEmpty && String(decoding: recording.content, as: UTF8.self).contains("abc123") == false)
        for (other, isAnswered) in [("one", true), ("two", false)] {
            var replay = Replay(try RecordedFile(recording.content, name: "a.har"))
            if case .success = replay.entry(for: exchange("one", other)) { #expect(isAnswered) } else { #expect(!isAnswered) }
        }
    }

    @Test("The name of a JWT stands for all of the JWT, and for no text in front of it")
    func startOfJWT() {
        let names = Placeholders(["token-001": .response])
        let jwt = "\(Data(#"{"alg":"HS256"}"#.utf8).base64URL).e30.token-001"
        for (text, canonical) in [
            (jwt, "token-001"), ("monkey-\(jwt)", "monkey-token-001"), ("key=\(jwt)&b=1", "key=token-001&b=1"),
            ("ey.e30.token-001", "ey.e30.token-001"),
        ] {
            #expect(names.canonical(Array(text.utf8)) == Array(canonical.utf8), "\(text)")
        }
    }

    @Test("A recording has the order in which the requests were sent, also if the clock went back")
    func clockThatGoesBack() throws {
        let exchanges = (0..<2).map { index in
            var exchange = RecordedExchange(method: "GET", url: "https://a.example/poll")
            exchange.order = (2 * index, 2 * index + 1)
            exchange.started = Date(timeIntervalSince1970: 1_800_000_000 - Double(index))
            exchange.response = .init(status: 200, headers: [], body: Array("\(index)".utf8))
            return exchange
        }
        let recording = try NewRecording(exchanges, RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.problems.isEmpty)
        #expect(recording.file.entries.map { $0.exchange.response?.body } == [Array("0".utf8), Array("1".utf8)])
    }

    @Test("A name has one text, maybe with escapes")
    func oneText() {
        let names = Placeholders(["token-001": .request])
        func isSame(_ first: String, _ second: String) -> Bool {
            var bindings = Bindings()
            return Pattern.bind("token-001", Array(first.utf8), names, &bindings)
                && Pattern.bind("token-001", Array(second.utf8), names, &bindings)
        }
        for other in ["a b", "a+b", "a%20b", #"a\u0020b"#] { #expect(isSame("a b", other) && isSame(other, "a b"), "\(other)") }
        for other in ["a-b", "ab", "a  b", ""] { #expect(!isSame("a b", other), "\(other)") }
    }

    @Test(
        "A name of a request matches any text that is not empty, between the texts around it, and one of a response matches itself",
        arguments: [
            ("token-001", ["any", "token-002"], [""]), ("a-token-001-b", ["a-x-b", "a-b-b"], ["a-x-c", "b-x-b", "a--b", "a-b"]),
            ("x=token-001&y=token-002", ["x=1&y=2", "x=1&y=1"], ["x=1", "x=1&z=2", "x=&y=2", "x=1&y="]),
            ("token-001 token-001", ["a a"], ["a b", "a"]), ("token-003", ["token-003"], ["other", ""]), ("text", ["text"], ["other"]),
        ])
    func patterns(text: String, matching: [String], others: [String]) {
        let names = Placeholders(["token-001": .request, "token-002": .request, "token-003": .response])
        func isMatch(_ other: String) -> Bool {
            var bindings = Bindings()
            return Pattern(text, names).matches(Pattern(other, names), names, &bindings)
        }
        for other in matching { #expect(isMatch(other), "\(other)") }
        for other in others { #expect(!isMatch(other), "\(other)") }
    }

    @Test(
        "The time at which a secret ends moves, if it stands in the same object or form, and no other time",
        arguments: [
            ("application/json", #"{"token":"token-001","expires_at":1900000000}"#, #"{"token":"token-001","expires_at":1900000060}"#),
            ("application/json", #"{"a":{"token":"token-001"},"expires":1900000000}"#, nil),
            (
                "application/json", #"[{"token":"token-001","exp":1900000000},{"exp":1900000000}]"#,
                #"[{"token":"token-001","exp":1900000060},{"exp":1900000000}]"#
            ),
            (
                "application/json", #"{"expires":1900000000,"inner":"{\"token\":\"token-001\",\"expires\":1900000000}"}"#,
                #"{"expires":1900000000,"inner":"{\"token\":\"token-001\",\"expires\":1900000060}"}"#
            ),
            (
                "application/json", #"{"token":"token-001","exp":1900000000.5,"expires_at":1900000000123,"expiry":19000000}"#,
                #"{"token":"token-001","exp":1900000060.5,"expires_at":1900000060123,"expiry":19000000}"#
            ),
            (
                "application/json",
                #"{"token":"token-001","expires_at":"2026-01-01T01:00:00+02:00","exp":"2026-01-01T01:00:00.250-09:30"}"#,
                #"{"token":"token-001","expires_at":"2026-01-01T01:01:00+02:00","exp":"2026-01-01T01:01:00.250-09:30"}"#
            ),
            (
                "application/json",
                #"{"token":"token-001","exp":"20260131-23:59","expiry":"20260131120000","expires":"Mon-Fri 08:00-20:00"}"#,
                nil
            ),
            ("application/x-www-form-urlencoded", "token=token-001&expires=1900000000", "token=token-001&expires=1900000060"),
            ("text/plain", "token=token-001 expires=1900000000", nil), ("application/json", #"{"token":"no name","exp":1900000000}"#, nil),
        ] as [(String, String, String?)])
    func expiries(type: String, body: String, moved: String?) {
        let response = RecordedExchange.Response(
            status: 200, headers: [.init(name: "Content-Type", value: type)], body: Array(body.utf8))
        let replayed = ReplayedResponse(response, Placeholders(["token-001": .response]), Bindings(), movedBy: 60)
        #expect(String(decoding: replayed.body, as: UTF8.self) == moved ?? body)
    }

    @Test(
        "Values that a program may generate in each run look alike: numbers, UUIDs, and words of one length",
        arguments: [
            ("1", "23", true), ("1.5", "2", true), ("6F9619FF-8B86-D011", "7F9619FF-8B86-D012", true), ("abcdef", "ghijkl", true),
            ("1", "", false), ("", "1", false), ("", "", false), ("abcde", "fghij", false), ("abcdef", "abcdefg", false),
            ("ab cdef", "ab cdeg", false), ("1", "a", false),
        ])
    func alike(one: String, other: String, mayBothBeGenerated: Bool) {
        #expect(Array(one.utf8).mayBothBeGenerated(Array(other.utf8)) == mayBothBeGenerated)
        #expect(Array(other.utf8).mayBothBeGenerated(Array(one.utf8)) == mayBothBeGenerated)
    }

    @Test("A report gives a secret of the request no name that the file has, and shows no key that is one")
    func namesInReports() async throws {
        let server = server { $0.url.path == "/login" ? #"{"token":"abcDEF123456xyz"}"# : "[1]" }
        try await test.run(.record, from: server) {
            let answer = try await $0.text(.post, "/login", json: "{}")
            _ = try await $0.text(.post, "/use", json: answer)
        }
        let stale = await test.failure { try await $0.text(.post, "/use", json: #"{"token":"staleDEF123456"}"#) }
        #expect(stale.contains(#"token: expected "token-001", got "token-002""#), "\(stale)")
        let keys = await test.failure { try await $0.text(.post, "/use", json: #"{"token":"staleDEF123456","staleDEF123456":1}"#) }
        #expect(
            keys.contains("…: expected none, got a value") && !keys.components(separatedBy: "None of").last!.contains("staleDEF"), "\(keys)"
        )
    }

    @Test("A report hides what the recording hides")
    func hiddenInReports() async throws {
        var test = test
        test.hidden = ["account"]
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let failure = await test.failure { try await $0.text(.get, "/a?account=RealAccountOfMine") }
        #expect(failure.contains(#"query account: expected none, got "account-001""#), "\(failure)")
    }

    @Test("A request with another method is told so")
    func method() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let failure = await test.failure { try await $0.text(.delete, "/a") }
        #expect(failure.contains(#"method: expected "GET", got "DELETE""#), "\(failure)")
    }

    @Test("Parts of multipart bodies are compared, whatever the boundary, but for those that are ignored")
    func multipart() async throws {
        var test = test
        test.ignored = ["sent_at"]
        @Sendable func send(_ provider: DefaultAPIProvider, _ title: String, at time: String) async throws -> String {
            let parts = [MultipartPart(name: "title", value: title), MultipartPart(name: "sent_at", value: time)]
            return try await provider.request(Endpoint<String>(.post, "/upload", body: .multipart(parts))).value
        }
        let server = server { (try? $0.body?.data())?.range(of: Data("one".utf8)) == nil ? "[2]" : "[1]" }
        try await test.run(.record, from: server) {
            for (title, time) in [("one", "10:00"), ("two", "10:01")] { _ = try await send($0, title, at: time) }
        }
        let answers = try await test.run(.replay) {
            [try await send($0, "two", at: "12:00"), try await send($0, "one", at: "12:01")]
        }
        #expect(answers == ["[2]", "[1]"])
        let failure = await test.failure { try await send($0, "three", at: "10:00") }
        #expect(failure.contains(#"expected "one", got "three""#), "\(failure)")
        for names in [[], ["title", "note"]] {
            let parts = (names + ["sent_at"]).map { MultipartPart(name: $0, value: "one") }
            let failure = await test.failure { try await $0.request(Endpoint<String>(.post, "/upload", body: .multipart(parts))).value }
            #expect(failure.contains("MockURLProtocol has no answer"), "\(failure)")
        }
    }

    @Test(
        "The report says how many entries there are",
        arguments: [
            (1, "The one entry of the recording does not answer it:"),
            (2, "None of the 2 entries of the recording answers it. The nearest:"),
        ])
    func numberOfEntries(count: Int, sentence: String) async throws {
        try await test.run(.record, from: server { _ in "[1]" }) {
            for index in 0..<count { _ = try await $0.text(.get, "/a/\(index)") }
        }
        let failure = await test.failure { try await $0.text(.get, "/b") }
        #expect(failure.contains(sentence), "\(failure)")
    }

    @Test("Entries that cannot be read are counted, and the first is named")
    func unreadable() async throws {
        let entries = [#"{"request":{"method":"GET","url":"https://a.example/"},"response":{"status":204}}"#, "7", "8"]
        try test.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let failure = await test.failure { try await $0.text(.get, "/b") }
        #expect(failure.contains("2 of them cannot be read. The first is session.har: log.entries[1]: "), "\(failure)")
    }
}
