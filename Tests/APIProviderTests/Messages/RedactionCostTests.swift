import Foundation
import TestSupport
import Testing

@testable import APIProvider

@Suite("What redaction costs", .longComputing)
struct RedactionCostTests {
    @Test("Four times as much text takes no more than eight times as long", arguments: costTexts.keys.sorted())
    func linear(kind: String) throws {
        let text = try #require(costTexts[kind])
        let work: (Data) -> Void = { data in
            _ = Redactor().message(of: APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": "text/plain"], data: data))
            _ = Redactor().message(String(decoding: data, as: UTF8.self))
        }
        let (few, many) = (cpuSeconds(text, 10_000, work), cpuSeconds(text, 40_000, work))
        #expect(many < max(few * 8, 0.01), "\(few) s, and \(many) s")
    }
}
