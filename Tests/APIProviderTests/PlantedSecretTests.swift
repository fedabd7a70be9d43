import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Planted secrets")
struct PlantedSecretTests {
    @Test("A secret is left out, and what stands beside it is not", arguments: Planted.all + Planted.notations)
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

    @Test("A body of two or four bytes for each character keeps its encoding, with a mark at its beginning or without")
    func wideBodies() throws {
        let encodings: [(String.Encoding, mark: [UInt8])] = [
            (.utf16BigEndian, [0xFE, 0xFF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
            (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]),
        ]
        for (encoding, mark) in encodings {
            for mark in [[], mark] {
                func body(_ text: String) throws -> Data { Data(mark) + (try #require(text.data(using: encoding))) }
                for style in [Redactor.Style.report, .recording] {
                    let redactor = Redactor(for: style)
                    let shown = style == .report ? "…" : "REDACTED"
                    #expect(
                        try redactor.body(body(#"{"password":"s3cret"}"#), contentType: nil) == body(#"{"password":"\#(shown)"}"#),
                        "\(encoding), \(mark)")
                    #expect(try redactor.body(body(#"{"a":1}"#), contentType: nil) == body(#"{"a":1}"#))
                }
            }
        }
        // Too short for a mark.
        for bytes in [[0xFF], [0xFE, 0xFF], [0, 0x31], [0x31, 0]] as [[UInt8]] {
            #expect(Redactor(for: .recording).body(Data(bytes), contentType: nil) == Data(bytes))
        }
    }

    @Test("A recording keeps a body as it is that is no text, unless its type says that it is")
    func binary() {
        let body = Data([0xFF]) + Data(" password=s3cret".utf8)
        let redacted = Data([0xFF]) + Data(" password=REDACTED".utf8)
        let redactor = Redactor(for: .recording)
        for type in ["application/octet-stream", "image/png", nil] { #expect(redactor.body(body, contentType: type) == body) }
        for type in ["Text/HTML", "application/json", "application/soap+xml", "application/x-www-form-urlencoded"] {
            #expect(redactor.body(body, contentType: type) == redacted, "\(type)")
        }
        #expect(Redactor(for: .report).body(body, contentType: nil) == Data([0xFF]) + Data(" password=…".utf8))
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
