import APIProvider
import APIProviderMocks
import Foundation

/// A text without the escapes of JSON, JavaScript, URLs and HTML, also nested ones, and without UTF-16's NULs.
struct DecodedText {
    private(set) var bytes: [UInt8]
    /// Each byte's offset in the source, and the end. `nil` without an escape.
    private var offsets: [Int]?

    /// - Parameters:
    ///   - levels: The number of nested escapes to decode. No server nests more than eight.
    ///   - keepsOffsets: Whether `sourceRange` is needed.
    init(_ source: [UInt8], levels: Int = 8, keepsOffsets: Bool = true) {
        bytes = source
        for _ in 0..<levels {
            var copied = 0
            let edits = bytes.places(ofAny: "\\%&\0").compactMap { place -> Edits.Element? in
                guard place >= copied, let (text, end) = bytes.escape(at: place) else { return nil }
                copied = end
                return (place..<end, text)
            }
            guard !edits.isEmpty else { return }
            bytes = bytes.applying(edits)
            guard keepsOffsets else { continue }
            let old = offsets ?? Array(0...source.count)
            offsets = old.applying(edits.map { ($0.range, Array(repeating: old[$0.range.lowerBound], count: $0.text.count)) })
        }
    }

    /// The source's range for a range of `bytes`.
    func sourceRange(_ range: Range<Int>) -> Range<Int> { offsets.map { $0[range.lowerBound]..<$0[range.upperBound] } ?? range }
}

extension [UInt8] {
    func decodingEscapes(levels: Int = 8) -> [UInt8] { DecodedText(self, levels: levels, keepsOffsets: false).bytes }

    /// The character of the escape at `place`, and the escape's end.
    fileprivate func escape(at place: Int) -> (text: [UInt8], end: Int)? {
        switch self[place] {
        case UInt8(ascii: "\\"): JSONEscape(self, at: place).map { (Array(String($0.scalar).utf8), $0.end) } ?? scriptEscape(at: place)
        case 0: ([], place + 1)
        case UInt8(ascii: "%"): hexByte(at: place + 1).map { ([$0], place + 3) }
        default: characterReference(at: place)
        }
    }

    /// JavaScript's `\x3D`, `\u{3D}` and `\'`, which JSON lacks.
    private func scriptEscape(at place: Int) -> (text: [UInt8], end: Int)? {
        guard place + 1 < count else { return nil }
        switch self[place + 1] {
        case UInt8(ascii: "'"): return ([UInt8(ascii: "'")], place + 2)
        case UInt8(ascii: "x"): return hexByte(at: place + 2).map { (Array("\(Unicode.Scalar($0))".utf8), place + 4) }
        case UInt8(ascii: "u"):
            let digits = self[(place + 2)...].prefix(12).prefix { $0 != UInt8(ascii: "}") }
            guard digits.first == UInt8(ascii: "{"), digits.endIndex < count, self[digits.endIndex] == UInt8(ascii: "}"),
                let scalar = UInt32(String(decoding: digits.dropFirst(), as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
            else { return nil }
            return (Array("\(scalar)".utf8), digits.endIndex + 1)
        default: return nil
        }
    }

    private func hexByte(at place: Int) -> UInt8? {
        guard place + 1 < count, let high = self[place].hexValue, let low = self[place + 1].hexValue else { return nil }
        return high << 4 | low
    }

    /// HTML's character reference at `place`. Browsers do not need the semicolon.
    private func characterReference(at place: Int) -> (text: [UInt8], end: Int)? {
        let name = self[(place + 1)...].prefix(10).prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "#") }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        let isHexadecimal = text.hasPrefix("#x")
        let number = UInt32(text.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        let character = text.hasPrefix("#") ? number.flatMap(Unicode.Scalar.init).map { "\($0)" } : Self.characters[text]
        guard let character else { return nil }
        let hasEnd = name.endIndex < count && self[name.endIndex] == UInt8(ascii: ";")
        return (Array(character.utf8), name.endIndex + (hasEnd ? 1 : 0))
    }

    /// HTML's names of ASCII characters, in lower case.
    private static let characters = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "plus": "+", "sol": "/", "equals": "=", "bsol": "\\", "colon": ":",
        "comma": ",", "period": ".", "semi": ";", "lowbar": "_", "hyphen": "-", "dash": "-", "commat": "@", "num": "#", "percnt": "%",
        "dollar": "$", "excl": "!", "quest": "?", "ast": "*", "lpar": "(", "rpar": ")", "lsqb": "[", "rsqb": "]", "lcub": "{",
        "rcub": "}", "verbar": "|", "hat": "^", "grave": "`", "nbsp": " ",
    ]
}

extension String {
    var decodingEscapes: String { Array(utf8).decodingEscapes().text }

    var escapedAsHTML: String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")].reduce(self) {
            $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal)
        }
    }

    /// The text between JSON's quotes.
    var escapedInJSON: String { String(decoding: jsonString.dropFirst().dropLast(), as: UTF8.self) }
}
