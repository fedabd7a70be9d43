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
    func isWords(joinedBy marks: String = "-_./") -> Bool {
        utf8.split(omittingEmptySubsequences: false) { marks.utf8.contains($0) }.allSatisfy { part in
            if part.count <= 2, part.allSatisfy({ $0.isLetter || $0.isDigit }) { return true }
            let letters = part.prefix { $0.isLowercaseLetter || $0.isUppercaseLetter }, digits = part.dropFirst(letters.count)
            let isOneCase = letters.dropFirst().allSatisfy(\.isLowercaseLetter) || letters.allSatisfy(\.isUppercaseLetter)
            return letters.count <= 20 && isOneCase && digits.count <= (letters.isEmpty ? 10 : 4) && digits.allSatisfy(\.isDigit)
        }
    }

    /// Whether a program may have generated the text: 12 bytes or more with letters and digits, without a space, and no words, time, URL or
    /// address.
    var looksRandom: Bool {
        guard utf8.count >= 12 else { return false }
        var (hasLetter, hasDigit) = (false, false)
        for byte in utf8 {
            if byte <= 0x20 { return false }
            if byte.isDigit { hasDigit = true } else if byte.isLetter { hasLetter = true }
        }
        return hasLetter && hasDigit && !isWords(joinedBy: "-_./:,;+@") && !isTime && !isURL
    }

    /// Whether this is a time in a notation of ISO 8601.
    private var isTime: Bool {
        utf8.count <= 40 && utf8.prefix(4).allSatisfy(\.isDigit) && utf8.allSatisfy { $0.isDigit || "-:.,+TZ".utf8.contains($0) }
    }

    /// Whether this is a URL, or a path that begins with a word.
    private var isURL: Bool {
        if Array(utf8).contains("://") { return true }
        guard utf8.first == UInt8(ascii: "/"), let segment = split(separator: "/").first else { return false }
        return String(segment).isWords()
    }

    /// The segments of all URLs' paths in the text.
    var segmentsOfURLs: [String] {
        guard utf8.contains(UInt8(ascii: "/")) else { return [] }
        let urls = utf8.first == UInt8(ascii: "/") ? ["a\(self)"] : Array(components(separatedBy: "://").dropFirst())
        return urls.flatMap { url in
            url.utf8.prefix { $0 > 0x20 && !"\"'<>?#\\".utf8.contains($0) }.split(separator: UInt8(ascii: "/")).dropFirst().map {
                Array($0).text
            }
        }
    }

    /// Whether this is JSON with an object.
    var isJSONObject: Bool {
        guard let first = utf8.first(where: { $0 > 0x20 }), "{[".utf8.contains(first) else { return false }
        return Lines(json: Data(utf8))?.values.values.contains { $0.contains { $0.kind == .object } } == true
    }

    /// The texts between these ASCII characters, by bytes: a name may begin with a combining mark.
    func parts(between marks: String) -> [String] { utf8.split { marks.utf8.contains($0) }.map { Array($0).text } }

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
