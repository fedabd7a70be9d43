import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Recordings, by their rules", tenMinutes)
struct RecordingRulesTests {
    private let test = RecordedTest()

    @Test("A replay warns of the entries that the test has not asked for, and of no other")
    func unused() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) {
            for path in ["/a", "/b", "/c"] { _ = try await $0.text(.get, path) }
        }
        try await test.run(.replay) { _ = try await $0.text(.get, "/b") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("GET https://a.example/a (session.har: log.entries[0])"), "\(warnings)")
        #expect(warnings.contains("GET https://a.example/c (") && !warnings.contains("a.example/b"), "\(warnings)")
    }

    @Test("A stream that broke off breaks off in each replay, after the same events")
    func brokenStream() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\ndata: 1\n\ndata: 2\n\n")
            connection.reset()
        }
        let events = Endpoint<ServerSentEvents>(.get, .url(server.url, "/events"))
        for mode in [Recording.Mode.record, .replay, .replay] {
            let (data, error) = try await test.run(mode) { provider -> ([String], (any Error)?) in
                var data: [String] = []
                do { for try await event in try await provider.request(events).value { data.append(event.data) } } catch {
                    return (data, error)
                }
                return (data, nil)
            }
            #expect(data == ["1", "2"] && error is APIError, "\(mode): \(data), \(error as Any)")
        }
    }

    @Test("If the app leaves a stream that is being recorded, the transfer from the server ends")
    func leftStream() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            connection.waitUntilClosed()
        }
        let events = Endpoint<ServerSentEvents>(.get, .url(server.url, "/events"))
        try await test.run(.record) { provider in
            for try await event in try await provider.request(events).value where event.data == "1" { break }
            await server.allClosed()
        }
        #expect(try await test.run(.replay) { try await $0.request(events).value.first { _ in true }?.data } == "1")
    }

    @Test("Entries answer in the order of their times, to a thousandth of a second")
    func fractions() async throws {
        let entries = [("002", "second"), ("001", "first"), ("1", "third")].map { fraction, body in
            #"{"startedDateTime":"2026-01-01T00:00:00.\#(fraction)Z","request":{"method":"GET","url":"https://a.example/x"},"#
                + #""response":{"status":200,"content":{"text":"\#(body)"}}}"#
        }
        try test.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let answers = try await test.run(.replay) { provider in
            [try await provider.text(.get, "/x"), try await provider.text(.get, "/x"), try await provider.text(.get, "/x")]
        }
        #expect(answers == ["first", "second", "third"])
    }

    @Test("JSON stays JSON if another run sends a text in the place of a number")
    func numberOfAnotherRun() async throws {
        let server = server { "{\"pin\":\($0.headers["X-Pin"] ?? "0")}" }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/pin", headers: ["X-Pin": "4711001"]) }
        #expect(try !test.text.contains("4711001"))
        for pin in ["4711002", "none yet"] {
            let answer = try await test.run(.replay) { try await $0.text(.get, "/pin", headers: ["X-Pin": pin]) }
            let json = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: NSNumber])
            #expect(json["pin"] == (Int(pin) ?? 900_000_001) as NSNumber, "\(answer)")
        }
    }

    @Test("In text that is almost JSON, a value under the name of a secret ends at its quote")
    func almostJSON() async throws {
        let server = answering(headers: ["Content-Type": "text/plain"]) { _ in
            Data(#"log: {"password":"corr3ct \" horse 9","kind":"open"} and "#.utf8)
        }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/log") }
        let answer = try await test.run(.replay) { try await $0.text(.get, "/log") }
        #expect(answer == #"log: {"password":"password-001","kind":"open"} and "#)
    }

    @Test("A large binary body is a warning when it is recorded", arguments: [(1 << 20, true), (1 << 10, false)])
    func largeBodies(size: Int, isTold: Bool) async throws {
        let server = answering(headers: ["Content-Type": "image/png"]) { _ in Data(repeating: 0xFF, count: size) }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/image") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("GET https://a.example/image has a binary body of 1 MB.") == isTold, "\(warnings)")
    }
}
