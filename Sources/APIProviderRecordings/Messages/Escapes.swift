import APIProvider
import APIProviderMocks
import Foundation

extension [UInt8] {
    /// The bytes without NULs, as UTF-16 has them, and without escapes of JSON, URLs and HTML. Escapes of escapes are decoded, too.
    ///
    /// - Parameter levels: How often. Each time, nested escapes lose one level. More than eight levels are no text of a server.
    func decodingEscapes(levels: Int = 8) -> [UInt8] {
        var bytes = replacing([0], with: [])
        for _ in 0..<levels {
            var copied = 0
            let edits = bytes.places(ofAny: "\\%&").compactMap { place -> Edits.Element? in
                guard place >= copied, let (text, end) = bytes.escape(at: place) else { return nil }
                copied = end
                return (place..<end, text)
            }
            guard !edits.isEmpty else { break }
            bytes = bytes.applying(edits).replacing([0], with: [])
        }
        return bytes
    }

    /// What the escape at `place` stands for, and its end.
    private func escape(at place: Int) -> (text: [UInt8], end: Int)? {
        switch self[place] {
        case UInt8(ascii: "\\"): JSONEscape(self, at: place).map { (Array(String($0.scalar).utf8), $0.end) }
        case UInt8(ascii: "%"): percentEscape(at: place).map { ([$0], place + 3) }
        default: characterReference(at: place)
        }
    }

    private func percentEscape(at place: Int) -> UInt8? {
        guard place + 2 < count, let high = self[place + 1].hexValue, let low = self[place + 2].hexValue else { return nil }
        return high << 4 | low
    }

    /// The character reference of HTML at `place`. Browsers take one without its semicolon.
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

    /// Those of HTML for ASCII characters, in lower case.
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
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    /// The text as it stands between the quotes of JSON.
    var escapedInJSON: String { String(decoding: jsonString.dropFirst().dropLast(), as: UTF8.self) }

    /// The ways in which it is usually written: as it is, in URLs, forms, JSON and HTML, and each of these within another.
    var spellings: Set<String> {
        let escapes: [(String) -> String] = [
            { $0.escapedAsValue }, { $0.escapedAsValue.replacingOccurrences(of: "%20", with: "+") },
            { text in Self.percentEscape.replacing(in: text.escapedAsValue) { $0[0]?.lowercased() } }, { $0.escapedInJSON },
            { $0.escapedInJSON.replacingOccurrences(of: "/", with: "\\/") },
            { text in
                text.escapedInJSON.escapingScalars({ $0.value >= 0x80 }) { "\($0)".utf16.map { String(format: "\\u%04x", $0) }.joined() }
            },
            { $0.escapedAsHTML }, { text in text.escapingScalars(\.isMark) { "&#\($0.value);" } },
            { text in text.escapingScalars(\.isMark) { "&#x\(String($0.value, radix: 16, uppercase: true));" } },
        ]
        let once = Set([self] + escapes.map { $0(self) })
        return once.union(once.flatMap { text in escapes.map { $0(text) } })
    }

    private static let percentEscape = Expression("%[0-9A-F]{2}")

    private func escapingScalars(_ isEscaped: (Unicode.Scalar) -> Bool, _ escape: (Unicode.Scalar) -> String) -> String {
        unicodeScalars.map { isEscaped($0) ? escape($0) : "\($0)" }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it is neither a letter nor a digit of ASCII.
    fileprivate var isMark: Bool { !(value < 0x80 && properties.isAlphabetic || ("0"..."9").contains(self)) }
}
