import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Planted secrets")
struct PlantedSecretTests {
    @Test("A secret is left out, and what stands beside it is not", arguments: Planted.all)
    func planted(row: Planted) {
        #expect(row.redacted(for: .report) == row.shown)
        #expect(row.redacted(for: .recording) == row.recorded)
        #expect(!row.redacted(for: .sentence).contains(row.secret))
    }

    @Test("What is harmless stays as it is", arguments: [Redactor.Style.sentence, .report, .recording])
    func harmless(style: Redactor.Style) {
        let redactor = Redactor(for: style)
        for text in Harmless.json {
            #expect(redactor.text(text) == text)
            #expect(redactor.body(Data(text.utf8), contentType: "application/json") == Data(text.utf8), "\(text)")
        }
        for (name, value) in Harmless.headers { #expect(redactor.header(name, value) == value) }
    }
}

extension Planted {
    fileprivate func redacted(for style: Redactor.Style) -> String {
        let redactor = Redactor(for: style)
        return switch place {
        case .url: redactor.reference(planted)
        case .header(let name): redactor.header(name, planted)
        case .body(let type): String(decoding: redactor.body(Data(planted.utf8), contentType: type), as: UTF8.self)
        }
    }
}
