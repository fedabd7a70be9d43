import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Verifying a recording", tenMinutes)
struct VerifyingTests {
    private let test = RecordedTest()

    /// The report on a server that answers otherwise than it did when the test was recorded; `nil` if there is none.
    private func report(recorded: ClosureTransport, now: ClosureTransport) async throws -> String? {
        let request = try anyRequest("https://a.example/a")
        try await test.run(.record, from: recorded) { _ = try await $0.request(request).value }
        let text = try test.text
        defer { #expect((try? test.text) == text) }
        do {
            try await test.run(.verify, from: now) { _ = try await $0.request(request).value }
            return nil
        } catch { return "\(error)" }
    }

    @Test(
        "A change of JSON that a reader of the old one may not decode is reported, and no other",
        arguments: [
            (#"{"a":1}"#, #"{"a":2,"b":"x"}"#, nil), (#"{"a":1}"#, "{}", "a is gone"), ("[[]]", "[]", nil), ("[]", "[1]", nil),
            (#"[{"a":1},{"a":2}]"#, #"[{"a":1},{}]"#, "[].a is gone"), (#"[{"a":1},{}]"#, "[{}]", nil),
            (#"{"a":{"b":[{"c":1}]}}"#, #"{"a":{"b":[{"d":1}]}}"#, "a.b[].c is gone"),
            (#"{"a":1}"#, #"{"a":1.0}"#, nil), (#"{"a":1}"#, #"{"a":1.5}"#, "a is a number with a fraction, but was an integer"),
            (#"{"a":9.99}"#, #"{"a":10}"#, nil), (#"{"a":9.99}"#, #"{"a":"10"}"#, "a is a string, but was a number with a fraction"),
            (#"{"a":null}"#, #"{"a":"x"}"#, nil), (#"{"a":"x"}"#, #"{"a":null}"#, "a is null, but was a string"),
            (#"[1,"x"]"#, #"["x"]"#, nil), (#"[1,"x"]"#, "[true]", "[] is a Boolean, but was a string or an integer"),
            ("[1]", "{}", "the body is an object, but was an array"), ("[1]", "<p>", "the body is no longer JSON"),
        ] as [(String, String, String?)])
    func shapes(old: String, new: String, change: String?) async throws {
        let report = try await report(recorded: server { _ in old }, now: server { _ in new })
        guard let change else { return #expect(report == nil && test.warnings.entries.isEmpty) }
        #expect(report?.contains("log.entries[0]): \(change)\n") == true, "\(report ?? "no report")")
    }

    @Test("A changed status and a changed media type are reported, and a changed text and a parameter of the type are not")
    func heads() async throws {
        func answer(_ status: Int, _ type: String?, _ text: String = "text") -> ClosureTransport {
            answering(statusCode: status, headers: type.map { ["Content-Type": $0] } ?? [:]) { _ in Data(text.utf8) }
        }
        let old = answer(200, "text/plain")
        #expect(try await report(recorded: old, now: old) == nil)
        #expect(try await report(recorded: old, now: answer(200, "text/plain; charset=utf-8", "other")) == nil)
        for (new, change) in [
            (answer(404, "text/plain"), "the status is 404, but was 200"),
            (answer(200, "text/html"), "the media type is text/html, but was text/plain"),
            (answer(200, nil), "the media type is missing, but was text/plain"),
        ] {
            let report = try await report(recorded: old, now: new)
            #expect(report?.contains("): \(change)\nTo take its answers, record again: MOCK_NETWORK=record") == true, "\(report ?? "")")
        }
    }

    @Test("A server that is down is said to be down, and what others have changed is still reported")
    func unreachable() async throws {
        let paths = ["/a", "/b"]
        try await test.run(.record, from: server { _ in "[1]" }) { for path in paths { _ = try await $0.text(.get, path) } }
        let now = ClosureTransport { request in
            request.url.path == "/a"
                ? .error(URLError(.cannotConnectToHost))
                : .just(APIResponse(to: request, headers: ["Content-Type": "application/json"], data: Data("{}".utf8)))
        }
        let error = await #expect(throws: (any Error).self) {
            try await test.run(.verify, from: now) { for path in paths { _ = try await $0.text(.get, path) } }
        }
        let report = "\(error as Any)"
        #expect(report.contains("https://a.example/b (session.har: log.entries[1]): the body is an object, but was an array"), "\(report)")
        #expect(report.contains("The server cannot be asked:\nGET https://a.example/a (session.har: log.entries[0]): "), "\(report)")
    }

    @Test("A stream that does not end is verified by its head", arguments: [true, false])
    func endlessStream(bySession: Bool) async throws {
        let isEndless = Locked(false)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n")
            if isEndless.withLock({ $0 }) { connection.waitUntilClosed() }
        }
        let request = Endpoint<ServerSentEvents>(.get, .url(server.url, "/events"))
        for mode in [Recording.Mode.record, .verify] {
            let data = try await test.run(mode, bySession: bySession) { provider in
                try await provider.request(request).value.reduce(into: []) { $0.append($1.data) }
            }
            #expect(data == ["1"])
            isEndless.withLock { $0 = true }
        }
        #expect(server.requests.count == 2)
    }

    @Test("A request with a credential of a replayed response is not sent, and is named")
    func credentials() async throws {
        let sent = Log<String>()
        let server = server { request in
            sent.append(request.url.path)
            return request.url.path == "/login" ? #"{"access_token":"abc123DEF456"}"# : "[1]"
        }
        for mode in [Recording.Mode.record, .verify] {
            try await test.run(mode, from: server) { provider in
                let answer = try await provider.text(.get, "/login")
                let token = try JSONDecoder().decode([String: String].self, from: Data(answer.utf8))["access_token"] ?? ""
                _ = try await provider.text(.get, "/items", headers: ["Authorization": "Bearer \(token)"])
            }
        }
        #expect(sent.entries == ["/login", "/items", "/login"])
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("were not sent:\nGET https://a.example/items (session.har: log.entries[1])"), "\(warnings)")
    }
}
