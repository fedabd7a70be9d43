import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("What a report counts and hides, and the shortest secret")
struct ReportRuleTests {
    private func failure(_ recorded: RecordedExchange, sending sent: RecordedExchange) throws -> String {
        var replay = NewRecording([recorded], RecordingOptions()).replay
        return try #require(#expect(throws: Replay.Failure.self) { try replay.entry(for: sent).get() }).description
    }

    @Test("A report shows four differing lines of an entry, and counts only those beyond", arguments: [(3, nil), (4, nil), (5, 1), (6, 2)])
    func lines(count: Int, more: Int?) throws {
        let query = (0..<count).map { "x\($0)=1" }.joined(separator: "&")
        let failure = try failure(exchange("GET", "https://a.example/?\(query)"), sending: exchange("GET", "https://a.example/"))
        #expect(failure.components(separatedBy: "query x").count - 1 == min(count, 4))
        #expect(failure.contains(" more") == (more != nil), "\(failure)")
        if let more { #expect(failure.hasSuffix("and \(more) more"), "\(failure)") }
    }

    @Test(
        "A text of the request under the name of a secret is hidden, also a common one of several words",
        arguments: ["password", "token", "api_key"])
    func names(name: String) throws {
        let text = name == "api_key" ? "Qx7k9ZpT2mWv" : "correct horse"
        let failure = try failure(sending(#"{"n":1}"#), sending: sending(#"{"n":1,"\#(name)":"\#(text)"}"#))
        #expect(failure.contains("body.\(name): expected nothing, got another text"), "\(failure)")
        #expect(!failure.contains(text), "\(failure)")
    }

    @Test("Two placeholders of one kind never stand for the same text of eight bytes, but may for a shorter one")
    func placeholders() {
        var bindings = Bindings(Placeholders([:]))
        let texts = [("hunter22", "token-001"), ("hunter22", "token-002"), ("hunter2", "token-003"), ("hunter2", "token-004")]
        #expect(texts.map { bindings.bind($0, to: $1, isFree: true) } == [true, false, true, true])
    }

    @Test("A secret of eight bytes is found where nothing else stands")
    func eightBytes() { #expect(SecretCheck(["hunter22"]).secrets(in: Array("hunter22".utf8)) == [0]) }
}
