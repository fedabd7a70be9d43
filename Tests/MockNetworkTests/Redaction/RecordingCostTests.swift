import Foundation
import TestSupport
import Testing

@testable import MockNetwork

@Suite("The cost of recordings and reports", .longComputing)
struct RecordingCostTests {
    @Test("Four times as much text takes no more than eight times as long", arguments: costTexts.keys.sorted())
    func linear(kind: String) throws {
        let text = try #require(costTexts[kind])
        for work in [
            { _ = RecordingRedactor(for: nil).body($0, contentType: nil) },
            { _ = RecordingRedactor(for: nil).body($0, contentType: "text/event-stream") },
            { _ = RecordingRedactor(for: nil, isReport: true).redactedText(of: $0) },
        ] as [(Data) -> Void] {
            let (few, many) = (cpuSeconds(text, 10_000, work), cpuSeconds(text, 40_000, work))
            #expect(many < max(few * 8, 0.01), "\(few) s, and \(many) s")
        }
    }
}
