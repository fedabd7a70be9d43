import APIProvider
import Foundation
import Testing

@testable import APIProviderRecordings

@Suite("Which of several entries that match answers")
struct RankTests {
    /// A recorded or sent request.
    private struct Request {
        let host: String
        var cookies: String?
        var token: String?

        func exchange(at time: Int) -> RecordedExchange {
            APIProviderRecordingsTests.exchange(
                "GET", "https://\(host).example/items", headers: ["Cookie": cookies, "Authorization": token.map { "Bearer \($0)" }],
                answer: "{\"n\":\(time)}", at: time)
        }
    }

    private static let sid = "sid=9aB8cD7eF6gH5iJ4kL"

    /// The first of these decides: tokens that were seen, the host, the cookies, an entry without a use, and the order.
    private static let cases: [(rule: String, recorded: [Request], sent: [Request], answers: [Int])] = [
        (
            "a token that was seen comes before the host",
            [Request(host: "a", token: "annAAAA11112222"), Request(host: "b", token: "bobBBBB11112222")],
            [Request(host: "a", token: "x-one"), Request(host: "b", token: "x-one")], [0, 0]
        ),
        (
            "the host comes before the cookies",
            [Request(host: "a", cookies: sid), Request(host: "b")], [Request(host: "b", cookies: sid), Request(host: "a")], [1, 0]
        ),
        ("the host comes before a use", [Request(host: "a"), Request(host: "b")], [Request(host: "a"), Request(host: "a")], [0, 0]),
        (
            "the cookies come before a use",
            [Request(host: "a", cookies: sid), Request(host: "a")],
            [Request(host: "a", cookies: sid), Request(host: "a", cookies: sid), Request(host: "a"), Request(host: "a")], [0, 0, 1, 1]
        ),
        (
            "a use comes before the order, and then the last that was used answers again",
            [Request(host: "a"), Request(host: "b")], [Request(host: "c"), Request(host: "c"), Request(host: "c")], [0, 1, 1]
        ),
    ]

    @Test("Of two reasons, the stronger decides", arguments: 0..<cases.count)
    func rank(index: Int) {
        let (rule, recorded, sent, answers) = Self.cases[index]
        let recording = NewRecording(
            recorded.enumerated().map { $1.exchange(at: $0) }, RecordingOptions(forAnyHost: true), environment: [:])
        var replay = recording.replay
        let found = sent.map { try? replay.entry(for: $0.exchange(at: 0)).get() }
        #expect(recording.problems == [] && found == answers, "\(rule)")
    }
}
