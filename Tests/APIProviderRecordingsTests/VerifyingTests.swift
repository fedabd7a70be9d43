import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Verifying a recording", tenMinutes)
struct VerifyingTests {
    private let test = RecordedTest()

    /// The report on a server that answers otherwise than it did when the test was recorded; `nil` if there is none.
    private func report(
        recorded: ClosureTransport, now: ClosureTransport, sending paths: [String] = ["/a"], then: [String]? = nil
    ) async throws -> String? {
        try await test.run(.record, from: recorded) { for path in paths { _ = try await $0.text(.post, path) } }
        let text = try test.text
        defer { #expect((try? test.text) == text) }
        do {
            try await test.run(.verify, from: now) { for path in then ?? paths { _ = try await $0.text(.post, path) } }
            return nil
        } catch { return "\(error)" }
    }

    @Test(
        "A line of a response whose kind is another, or that is gone, is reported, and other values and more members are not",
        arguments: [
            (#"{"a":1}"#, #"{"a":2.5,"b":"x"}"#, nil), (#"{"a":1}"#, "{}", "body.a was a number, is gone"), ("[[]]", "[]", nil),
            ("[]", "[1]", nil),
            (#"[{"a":1},{"a":2}]"#, #"[{"a":1},{"b":1}]"#, nil), (#"[{"a":1},{"a":2}]"#, #"[{"b":1}]"#, "body[].a was a number, is gone"),
            (#"{"items":[{"id":1}]}"#, #"{"items":[{"id":"1"}]}"#, "body.items[].id was a number, is a text"),
            (#"{"a":{"b":[{"c":1}]}}"#, #"{"a":{"b":[{"d":1}]}}"#, "body.a.b[].c was a number, is gone"),
            (#"{"a":"x"}"#, #"{"a":null}"#, "body.a was a text, is null"),
            (#"{"a":true}"#, #"{"a":1}"#, "body.a was a Boolean, is a number"),
            (#"[1,"x"]"#, #"["x"]"#, nil), (#"[1,"x"]"#, "[true]", "body[] was a number or a text, is a Boolean"),
            ("[1]", "{}", "body was an array, is an object"), ("[1]", "<p>", "body was an array, is a text"),
        ] as [(String, String, String?)])
    func kinds(old: String, new: String, change: String?) async throws {
        let report = try await report(recorded: server { _ in old }, now: server { _ in new })
        guard let change else { return #expect(report == nil) }
        #expect(report?.contains("POST https://a.example/a: \(change)\n") == true, "\(report ?? "no report")")
    }

    @Test(
        "Streams of lines and of events are read line by line", arguments: [("application/x-ndjson", ""), ("text/event-stream", "data: ")])
    func streams(type: String, mark: String) async throws {
        func answer(_ json: String) -> ClosureTransport {
            answering(headers: ["Content-Type": type]) { _ in Data("\(mark){\"n\":0}\n\n\(mark)\(json)\n\n".utf8) }
        }
        #expect(try await report(recorded: answer("{\"name\":1}"), now: answer("{\"name\":2}")) == nil)
        let report = try await report(recorded: answer("{\"name\":1}"), now: answer("{\"title\":1}"))
        #expect(report?.contains("body[].name was a number, is gone") == true, "\(report ?? "")")
    }

    @Test("Another status, another media type, and requests that are new or gone are reported, and POSTs are sent as recording sends them")
    func heads() async throws {
        func answer(_ status: Int, _ type: String?) -> ClosureTransport {
            answering(statusCode: status, headers: type.map { ["Content-Type": $0] } ?? [:]) { _ in Data("text".utf8) }
        }
        let old = answer(200, "text/plain")
        #expect(try await report(recorded: old, now: answer(200, "text/plain; charset=utf-8")) == nil)
        for (new, change) in [
            (answer(404, "text/plain"), "the status was 200, is 404"),
            (answer(200, "text/html"), "the media type was text/plain, is text/html"),
            (answer(200, nil), "the media type was text/plain, is missing"),
        ] {
            let report = try await report(recorded: old, now: new)
            #expect(
                report?.contains("POST https://a.example/a: \(change)\nTo take its answers, record again: MOCK_NETWORK=record") == true,
                "\(report ?? "")")
        }
        let report = try await report(recorded: old, now: old, sending: ["/a", "/b"], then: ["/a", "/c", "/a"])
        for line in ["/c: it is new", "/a: it is new", "/b: it is gone"] {
            #expect(report?.contains("a.example\(line)") == true, "\(report ?? "")")
        }
    }

    @Test("A GET that is sent once more than it was recorded is no change")
    func repeated() async throws {
        for (mode, count) in [(Recording.Mode.record, 1), (.verify, 2)] {
            try await test.run(mode, from: server { _ in "[1]" }) { for _ in 0..<count { _ = try await $0.text(.get, "/a") } }
        }
    }

    @Test("New secrets are no change, and a server that is down is the error of the test")
    func secrets() async throws {
        let number = Locked(0)
        let server = server { request in
            let n = number.withLock { number in
                number += 1
                return number
            }
            return request.url.path == "/login" ? "{\"extra\":\"x\",\"access_token\":\"abc123DEF\(n)\"}" : "[1]"
        }
        for mode in [Recording.Mode.record, .verify] {
            try await test.run(mode, from: server) { provider in
                let answer = try await provider.text(.post, "/login", json: "{\"password\":\"\(mode)-hunter22\"}")
                let token = try JSONDecoder().decode([String: String].self, from: Data(answer.utf8))["access_token"] ?? ""
                _ = try await provider.text(.get, "/items", headers: ["Authorization": "Bearer \(token)"])
            }
        }
        await #expect(throws: APIError.self) {
            try await test.run(.verify, from: ClosureTransport { _ in .error(URLError(.cannotConnectToHost)) }) {
                _ = try await $0.text(.get, "/a")
            }
        }
    }
}
