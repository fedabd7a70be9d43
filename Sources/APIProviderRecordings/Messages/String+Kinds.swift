import APIProvider
import APIProviderMocks
import Foundation

extension String {
    /// Whether this is a JSON number.
    var isNumber: Bool {
        guard let first = utf8.first, first.isDigit || first == UInt8(ascii: "-") else { return false }
        var tokens = JSONTokens(Data(utf8))
        return (try? tokens.next())?.range.count == utf8.count
    }

    /// Whether the text may occur by chance: under 8 bytes, or a word of letters in one case, maybe with a capital.
    var isCommon: Bool {
        let isWord = utf8.dropFirst().allSatisfy(\.isLowercaseLetter) && utf8.first?.isLetter == true
        return utf8.count < 8 || utf8.count <= 20 && (isWord || utf8.allSatisfy(\.isUppercaseLetter))
    }

    /// Whether this is words and numbers, joined by marks: `eu-west-1`, `Europe/Berlin`, `octocat-dev42`, `gpt-4o`.
    var isWords: Bool { Self.words.isFound(in: self) }

    private static let word = "(?:[A-Za-z0-9]{0,2}|(?:[A-Za-z][a-z]{0,19}|[A-Z]{1,20})[0-9]{0,4}|[0-9]{1,10})"
    private static let words = Expression("^\(word)(?:[-_./]\(word))*\\z")
    /// Words also with other marks, a time or a duration in a notation of ISO 8601, a path that begins with a word, a URL, an address in
    /// IPv6 and a media type.
    private static let ordinary = Expression(
        "^(?:\(word)(?:[-_./:,;+@]\(word))*|[0-9]{4}[0-9:.,+TZ-]*|P[0-9.,DHMSTWY]*)\\z|^/(?:[a-z]{3,20}|[A-Z][a-z]{2,20}|v[0-9]{1,2})(?:/|\\z)"
            + "|://|^(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]{0,15}(?:/[0-9]{1,3})?\\z"
            + "|^(?:application|audio|font|image|message|model|multipart|text|video)/[a-z]")

    /// Whether this is one plain word, words joined by `_`, or an amount: "Kennwort", "too_short", "35.88".
    var isForUser: Bool { Self.forUser.isFound(in: self) }

    private static let forUser: Expression = {
        let word = #"\p{L}[\p{Ll}\p{Lm}\p{Lo}\p{M}]{0,19}"#
        return Expression("^(?:\(word)(?:_\(word))*|[A-Z]+(?:_[A-Z]+)+|[0-9]+[.][0-9]+)\\z")
    }()

    /// Whether a program may have generated the text: 12 bytes or more with letters and digits, without a space, and no words, time, URL or
    /// address.
    var looksRandom: Bool { looksRandom(kinds) }

    func looksRandom(_ kinds: ByteKinds) -> Bool {
        utf8.count >= 12 && kinds.isSuperset(of: .word) && !kinds.contains(.space) && !Self.ordinary.isFound(in: self)
    }

    /// The random-looking segments of all URLs' paths in the text.
    func randomSegmentsOfURLs(_ kinds: ByteKinds) -> [String] {
        guard kinds.isSuperset(of: .path), kinds.contains(.colon) || utf8.first == UInt8(ascii: "/") else { return [] }
        return Self.segment.matches(in: self).compactMap { $0[1] }.filter(\.looksRandom)
    }

    private static let segment = Expression(#"(?<!/)/([^/\s"'<>?#\\]{12,})"#)

    /// Whether this is JSON with an object.
    var isJSONObject: Bool {
        guard let first = utf8.first(where: { $0 > 0x20 }), "{[".utf8.contains(first) else { return false }
        return Lines(json: Data(utf8))?.values.values.contains { $0.contains { $0.kind == .object } } == true
    }

    /// Whether this is a form with two items or more, or markup.
    var isFormOrMarkup: Bool { Self.formOrMarkup.isFound(in: self) }

    private static let formOrMarkup = Expression(#"^[\w.%\[\]-]+=[^\s&]*(?:&[\w.%\[\]-]+=[^\s&]*)+\z|^\s*<[^<>]+>[\s\S]*>\s*\z"#)

    /// The texts between these ASCII characters, by bytes: a name may begin with a combining mark.
    func pieces(betweenAny marks: String) -> [String] { utf8.split { marks.utf8.contains($0) }.map { Array($0).text } }

    /// A time in seconds or milliseconds since 1970, in ISO 8601, or as an HTTP date.
    var time: Date? {
        if let number = Double(self) {
            let digits = prefix(while: \.isNumber).count
            return [10, 13].contains(digits) ? Date(timeIntervalSince1970: digits == 13 ? number / 1000 : number) : nil
        }
        return Date(iso8601: self) ?? Date(httpDate: self, now: Date())
    }
}

extension Date {
    /// With or without a fraction of a second.
    init?(iso8601 text: String) {
        let formats = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]
        guard let date = formats.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        self = date
    }
}

// MARK: - Kinds of bytes

/// Which bytes a text has. Large bodies have many texts, and most need no closer look.
struct ByteKinds: OptionSet {
    let rawValue: UInt16

    static let letter = ByteKinds(rawValue: 1), digit = ByteKinds(rawValue: 2), space = ByteKinds(rawValue: 4)
    static let slash = ByteKinds(rawValue: 8), bracket = ByteKinds(rawValue: 16), equals = ByteKinds(rawValue: 32)
    static let colon = ByteKinds(rawValue: 64), dot = ByteKinds(rawValue: 128), tag = ByteKinds(rawValue: 256)
    /// What may begin an escape, and what no time in ISO 8601 has.
    static let escape = ByteKinds(rawValue: 512), untimely = ByteKinds(rawValue: 1024)

    static let word: ByteKinds = [.letter, .digit], path: ByteKinds = [.slash, .letter, .digit]
    /// Of a text with other texts inside.
    static let inner: ByteKinds = [.bracket, .equals, .colon, .tag, .dot]

    fileprivate static let table = (0..<256).map { byte -> UInt16 in
        let byte = UInt8(byte)
        let other = byte.isDigit || "-:.,+/TZ ".utf8.contains(byte) ? 0 : untimely.rawValue
        if byte.isLetter { return letter.rawValue | other }
        if byte.isDigit { return digit.rawValue }
        if byte <= 0x20 { return space.rawValue | other }
        let marks: [(String, ByteKinds)] = [
            ("/", .slash), ("{[", .bracket), ("=", .equals), (":", .colon), (".", .dot), ("<", .tag), ("%&\\", .escape),
        ]
        return marks.first { $0.0.utf8.contains(byte) }.map { $0.1.rawValue | other } ?? other
    }
}

extension String {
    /// Calls no function in the loop, because tests run without the optimizer.
    var kinds: ByteKinds {
        withBytes { bytes in
            ByteKinds.table.withUnsafeBufferPointer { table in
                guard let bytes = bytes.baseAddress, let table = table.baseAddress else { return [] }
                var (kinds, place): (UInt16, Int) = (0, 0)
                let count = utf8.count
                while place < count {
                    kinds |= table[Int(bytes[place])]
                    place &+= 1
                }
                return ByteKinds(rawValue: kinds)
            }
        }
    }
}
