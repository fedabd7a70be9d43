import Foundation
import TestSupport
import Testing

@testable import APIProviderMocks

@Suite("Tokens of JSON")
struct JSONTokensTests {
    /// The kinds and texts of all tokens. `nil` if the text is not JSON.
    private func tokens(_ text: String) -> String? {
        var tokens = JSONTokens(Data(text.utf8))
        var result = ""
        do {
            while let token = try tokens.next() {
                result += token.kind == .string || token.kind == .name ? "<\(tokens.text(of: token))>" : "\(token.kind) "
            }
        } catch {
            return nil
        }
        return tokens.depth == 0 ? result : nil
    }

    @Test("Names and strings come without their escapes")
    func texts() {
        #expect(
            tokens(#" {"a\n\"" : ["\ud83d\ude00\/\u00e9", "\ud83d", -0.5E+3] } "#)
                == "beginObject <a\n\"><beginArray <😀/é><\u{FFFD}>number endArray endObject ".replacingOccurrences(
                    of: "<a\n\"><", with: "<a\n\">"))
        #expect(tokens("\u{FEFF}true") == "true ")
    }

    @Test("A string has the characters of its escapes (RFC 8259, section 7)")
    func escapes() {
        var random = SeededGenerator(seed: 7)
        for (escape, character) in zip("\"\\/bfnrt", "\"\\/\u{8}\u{C}\n\r\t") { #expect(tokens("\"\\\(escape)\"") == "<\(character)>") }
        for _ in 0..<200 {
            let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) ?? "\u{E9}"
            let text = scalar.utf16.map { unit in
                let digits = String(unit, radix: 16, uppercase: Bool.random(using: &random))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
            #expect(tokens("\"\(text)\"") == "<\(scalar)>", "\(text)")
        }
    }

    @Test("A text as a string of JSON is read as the same text, with all that must be escaped")
    func jsonString() throws {
        let text = String(String.UnicodeScalarView((0..<0x80).compactMap(Unicode.Scalar.init))) + "é\u{2028}😀"
        #expect(try JSONDecoder().decode([String].self, from: Data(Array("[".utf8) + text.jsonString + Array("]".utf8))) == [text])
    }

    @Test("It accepts the same texts as Foundation (RFC 8259)")
    func grammar() throws {
        var random = SeededGenerator(seed: 7)
        let parts = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "1", "-", "0", ".5", "e3", "true", "false", "null", " ", "\"\\u00e9\"", "\"\\x\"", "\"",
            "\\", "01", "nul",
        ]
        var others: [String] = []
        for _ in 0..<rounds(1_000) {
            let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            if (tokens(text) != nil) != isJSON { others.append(text) }
        }
        #expect(others == [])
        for text in [
            "", " ", "{\"a\":1,}", "[1,]", "[,1]", "{1:2}", "\"\u{1}\"", "\"\\u12g4\"", "\"\\u12", "\"\\", "1 2", "[1}", "{\"a\"}",
        ] {
            #expect(tokens(text) == nil, "\(text)")
        }
    }
}
