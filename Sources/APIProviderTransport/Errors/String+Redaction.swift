import Foundation

extension String {
    /// The text with `…` for each word that may be a secret, and with URLs as they are shown elsewhere.
    ///
    /// A word may be a secret if it has letters and digits, and 12 characters or more, or if it is a number of more than seven digits.
    /// Dates, times, versions and shorter numbers in it do not count.
    var redactingWords: String {
        // Without a digit and a slash there is no such word, and no URL.
        guard utf8.contains(where: { $0.isDigit || $0 == UInt8(ascii: "/") || $0 >= 0x80 }) else { return self }
        var output = ""
        var rest = unicodeScalars[...]
        while let first = rest.first {
            let isBetween = first.isBetweenWords
            let run = rest.prefix { $0.isBetweenWords == isBetween }
            rest = rest[run.endIndex...]
            output += isBetween ? String(run) : String(run).redactingWord
        }
        return output
    }

    /// The path of a URL with `…` for each segment that may be a secret.
    var redactingSegments: String {
        split(separator: "/", omittingEmptySubsequences: false).map { String($0).redactedIfSecret }.joined(separator: "/")
    }

    /// A word, a path or a URL, with marks around it.
    private var redactingWord: String {
        let marks = unicodeScalars.prefix { !$0.isWordCharacter && $0 != "/" }
        let end = unicodeScalars.lastIndex { !"\"'`)]}>,.;:!?".unicodeScalars.contains($0) }
        guard let end, end >= marks.endIndex else { return self }
        let (word, rest) = (String(unicodeScalars[marks.endIndex...end]), unicodeScalars[unicodeScalars.index(after: end)...])
        guard word.contains("://") || word.hasPrefix("/") else { return redactedIfSecret }
        return String(marks) + word.redactingURL + String(rest)
    }

    /// A path or a URL. Text in front of its scheme is hidden as a word is. If its host has characters that no host has, only the scheme is
    /// shown.
    private var redactingURL: String {
        guard let mark = range(of: "://") else { return Redactor.redacted(url: self, redactsWords: true) }
        let start = self[..<mark.lowerBound].lastIndex { !$0.isASCII || !($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let url = self[(start.map { index(after: $0) } ?? startIndex)...]
        let before = self[..<url.startIndex]
        // The text in front is a path, or has a query or a fragment, which contains the URL.
        guard !before.hasPrefix("/"), !before.contains(where: { "?#".contains($0) }) else {
            return Redactor.redacted(url: self, redactsWords: true)
        }
        let isHost = URLText(url).hostAndPort.allSatisfy { $0.isLetter || $0.isNumber || "-._:[]".contains($0) }
        let shown = isHost ? Redactor.redacted(url: String(url), redactsWords: true) : "\(url[..<mark.upperBound])…"
        return String(before).redactedIfSecret + shown
    }

    /// A word, or `…` in its place if it may be a secret. Marks around it stay, such as quotes.
    private var redactedIfSecret: String {
        // Most words are short, or have no digit.
        guard let start = unicodeScalars.firstIndex(where: \.isWordCharacter), let last = unicodeScalars.lastIndex(where: \.isWordCharacter)
        else {
            return self
        }
        let word = String(unicodeScalars[start...last])
        guard word.unicodeScalars.count > 7, word.unicodeScalars.contains(where: \.isDecimalDigit) else { return self }
        let rest = word.replacingOccurrences(of: Self.plainParts, with: "", options: .regularExpression).unicodeScalars
        let letters = rest.count { $0.properties.isAlphabetic }
        let digits = rest.count { $0.isDecimalDigit }
        guard letters > 0 ? digits > 0 && rest.lengthOfWord >= 12 : digits > 7 else { return self }
        return String(unicodeScalars[..<start]) + "…" + String(unicodeScalars[unicodeScalars.index(after: last)...])
    }

    /// Dates with or without a time, versions, and numbers that are not joined to letters.
    private static let plainParts = [
        #"(?<![A-Za-z0-9])\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![A-Za-z0-9])"#,
        #"(?<![A-Za-z0-9])(?:[vV]\d{1,4}|[vV]?\d{1,6}(?:\.\d{1,6}){1,3})(?![A-Za-z0-9])"#,
        #"(?<![\p{L}\p{Nd}_.+~%-])[+-]?\d{1,7}(?![._+~-]?[\p{L}\p{Nd}])"#,
    ].joined(separator: "|")
}

// MARK: - Characters

extension String.UnicodeScalarView {
    /// The number of characters from the first letter or digit to the last.
    fileprivate var lengthOfWord: Int {
        guard let start = firstIndex(where: \.isWordCharacter), let last = lastIndex(where: \.isWordCharacter) else { return 0 }
        return distance(from: start, to: last) + 1
    }
}

extension Unicode.Scalar {
    fileprivate var isDecimalDigit: Bool { properties.generalCategory == .decimalNumber }

    fileprivate var isWordCharacter: Bool { properties.isAlphabetic || isDecimalDigit }

    /// White space, and the scripts of East Asia, which have none between words.
    fileprivate var isBetweenWords: Bool { properties.isWhitespace || 0x2E80...0x9FFF ~= value }
}
