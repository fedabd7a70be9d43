import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("What somebody who commits a recording is told", tenMinutes)
struct WarningTests {
    @Test("The names of values that stay and look random are listed once each, and those of words, numbers, times and URLs are not")
    func keptNames() {
        let item =
            #"{"sha":"6dcb09b5b57875f334f61aebed695e2e4193db5e","node_id":"MDQ6VXNlcjE","at":"2026-01-01T00:00:00Z","n":12345678901234,"url":"#
            + #""https://a.example/x1y2z3","slug":"octocat/hello-world-2","token":"abc123DEF456"}"#
        let recording = NewRecording([exchange(answer: "[\(item),\(item)]", responseHeaders: ["ETag": "\"x\""])])
        #expect(recording.warnings.first == "Kept as they came: sha. Hide one with hiding: […].", "\(recording.warnings)")
        let kept = NewRecording([exchange(answer: #"{"node_id":"MDQ6VXNlcjEy34"}"#)]).warnings
        #expect(kept == ["Kept as they came: node_id. Hide one with hiding: […]."])
    }

    @Test(
        "A random-looking segment of a URL in a body or a header is listed by the URL's name",
        arguments: [
            "https://hooks.slack.com/services/T00000000/B00000000/aB3dE5fG7hI9jK1lM3nO5pQ7",
            "https://discord.com/api/webhooks/1234567890/aB3-dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x", "/invite/aB3dE5fG7hI9",
            "Hello Ann, to reset your password, visit https://a.example/reset/aB3dE5fG7hI9?lang=de today.",
            "<a href=\"https://a.example/join/aB3dE5fG7hI9\">Join</a> https://a.example/about/us",
        ])
    func urls(text: String) {
        let responses = [
            exchange(answer: "{\"items\":[{\"link\":\(text.jsonString.text)}]}"), exchange(responseHeaders: ["Link": text]),
            sending("{\"link\":\(text.jsonString.text)}"),
        ]
        for response in responses {
            let recording = NewRecording([response])
            let lists = recording.warnings.contains { $0.hasPrefix("Kept as they came: ") && $0.lowercased().contains("link") }
            #expect(lists && recording.text.contains("aB3"), "\(recording.warnings)")
        }
        let plain = #"{"url":"https://api.a.example/repos/octocat/hello-world-2/issues/1347","path":"/users/octocat/repos"}"#
        #expect(NewRecording([exchange(answer: plain)]).warnings == [])
    }

    @Test("A plain word stays away from its name, and nobody is warned", arguments: ["correcthorse", "Passwort"])
    func plainWords(word: String) {
        let answer = "{\"note\":\"\(word) vergessen? \(word)s\"}"
        let recording = NewRecording([sending("{\"password\":\"\(word)\"}", answer: answer)])
        #expect(recording.problems == [] && recording.answer() == answer && !recording.body().contains(word))
        #expect(recording.warnings == [])
    }

    @Test("A text of more than 1 MB is told with its size and the cure, and a film is not", .longComputing)
    func largeTexts() {
        let text = String(repeating: "all work and no play\n", count: 60_000)
        let warning = "GET https://a.example/ has a text of 1 MB. Shorten it with editing: { … }, or ask the server for less."
        #expect(NewRecording([exchange(answer: text, type: "text/plain")]).warnings == [warning])
        var film = exchange(type: "text/plain")
        film.response?.body = Data([0, 0, 0, 0x18]) + Data("ftypmp42".utf8) + Data(repeating: 0xFF, count: 1_100_000)
        #expect(NewRecording([film]).warnings == [])
    }

    @Test("A name that the test gives and nothing has is told")
    func unusedNames() {
        let options = RecordingOptions(
            hiding: ["e-mail-adress", "email", "X-Device"], ignoring: ["body.sent_ad", "sent_at", "X-Device", "zzzzzzzzzz"],
            keeping: ["tokens"])
        var sent = sending(#"{"sent_at":1}"#, answer: #"{"email":"a@b.c","token":"abc123DEF"}"#)
        sent.headers["X-Device"] = "7"
        let recording = NewRecording([sent], options)
        #expect(
            recording.warnings.filter { $0.contains("nothing is called") } == [
                "hiding: nothing is called \"e-mail-adress\".",
                "keeping: nothing is called \"tokens\".",
                "ignoring: nothing is called \"body.sent_ad\".", "ignoring: nothing is called \"zzzzzzzzzz\".",
            ], "\(recording.warnings)")
    }

    @Test("Equal requests with other values of a header that is not stored, and other responses, are told how to be compared")
    func comparing() {
        func request(_ tenant: String, _ id: String, at time: Int) -> RecordedExchange {
            exchange(headers: ["X-Tenant": tenant, "X-Request-Id": id], answer: "[\(time)]", at: time)
        }
        let recording = NewRecording([request("acme", "abc123DEF456", at: 0), request("umbrella", "abc123DEF457", at: 1)])
        #expect(
            recording.warnings == [
                "GET https://a.example/ got several responses with other values of X-Tenant, which a replay does not compare. To compare them: "
                    + "comparing: [\"X-Tenant\"]"
            ], "\(recording.warnings)")
        // Several headers always come in one order.
        let headers = [1, 2].map { number in
            HTTPHeaders(["X-Region", "X-Tenant", "X-App", "X-Mode", "X-Zone", "X-Beta"].map { (key: $0, value: "a\(number)") })
        }
        let several = NewRecording((0..<2).map { exchange(headers: headers[$0], answer: "[\($0)]", at: $0) }).warnings
        let warning = several.first ?? ""
        #expect(warning.contains("other values of X-App, X-Beta, X-Mode, X-Region, X-Tenant, X-Zone, which a replay"), "\(several)")
        #expect(warning.hasSuffix(#"comparing: ["X-App", "X-Beta", "X-Mode", "X-Region", "X-Tenant", "X-Zone"]"#), "\(several)")
        // Polling is ordinary.
        let polls = [request("acme", "abc123DEF456", at: 0), request("acme", "abc123DEF457", at: 1)]
        #expect(NewRecording(polls).warnings == [])
    }

    @Test("Entries that no request used are told, and no other, and not after a failure")
    func unusedEntries() async throws {
        let test = RecordedTest()
        try await test.run(.record, from: server { _ in "[1]" }) { for path in ["/a", "/b", "/c"] { _ = try await $0.text(.get, path) } }
        try await test.run(.replay) { _ = try await $0.text(.get, "/b") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("GET https://a.example/a (session.har: log.entries[0])"), "\(warnings)")
        #expect(warnings.contains("GET https://a.example/c (") && !warnings.contains("a.example/b"), "\(warnings)")
        let count = test.warnings.count
        try await test.run(.replay, hasFailed: true) { _ = try await $0.text(.get, "/b") }
        #expect(test.warnings.count == count)
    }
}
