import Foundation

/// A regular expression whose matches have their places in UTF-8.
struct Expression: Sendable {
    struct Match {
        struct Part {
            let text: String
            /// The place of its first byte.
            var start: Int

            func range(from offset: Int) -> Range<Int> { offset + start..<offset + start + text.utf8.count }
        }

        private let parts: [Part?]

        var whole: Part { parts[0] ?? Part(text: "", start: 0) }

        subscript(group: Int) -> Part? { group < parts.count ? parts[group] : nil }

        fileprivate init(_ result: NSTextCheckingResult, in text: String) {
            parts = (0..<result.numberOfRanges).map { group in
                Range(result.range(at: group), in: text).map { range in
                    Part(text: String(text[range]), start: text.utf8.distance(from: text.startIndex, to: range.lowerBound))
                }
            }
        }
    }

    /// `nil` if the pattern is wrong, which the tests would show.
    private let expression: NSRegularExpression?

    init(_ pattern: String, isCaseSensitive: Bool = true) {
        expression = try? NSRegularExpression(pattern: pattern, options: isCaseSensitive ? [] : .caseInsensitive)
    }

    func matches(in text: String) -> [Match] {
        (expression?.matches(in: text, range: NSRange(text.startIndex..., in: text)) ?? []).map { Match($0, in: text) }
    }

    /// The text with another in place of each match; `nil` leaves a match as it is.
    func replacing(in text: String, _ replacement: (Match) -> String?) -> String {
        let edits = matches(in: text).compactMap { match in replacement(match).map { (match.whole.range(from: 0), Array($0.utf8)) } }
        return edits.isEmpty ? text : Array(text.utf8).applying(edits).text
    }
}
