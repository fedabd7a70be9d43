import APIProvider
import Foundation

/// The expectation of a stub and the value that it got, as two lines that differ.
struct Difference: Sendable, Equatable {
    let expected: String
    let actual: String

    /// Shows two texts, from which secrets have been removed, around the first difference.
    ///
    /// If only invisible characters differ, such as spaces, they are escaped. If the texts are equal, their secrets differed.
    init(expected: String, actual: String) {
        var lines = Self.excerpts(expected.joined, actual.joined)
        let isSame = expected.hasSameBytes(as: actual)
        if !isSame, lines.0.visible == lines.1.visible { lines = Self.excerpts(expected.escaped, actual.escaped) }
        self.expected = lines.0
        self.actual = isSame ? "\(lines.1) (differs, but is not shown)" : lines.1
    }

    /// Shows two bodies around the first difference. If that is not in the first 64 KB of a text, the byte is shown.
    init(expected: Data, actual: Data) {
        let offset = zip(expected, actual).prefix { $0 == $1 }.count
        self.init(expected: expected.excerpt(around: offset), actual: actual.excerpt(around: offset))
    }

    /// Joins the first three of `differences`; `nil` if there are none.
    init?(_ differences: [Difference]) {
        guard !differences.isEmpty else { return nil }
        let more = differences.count > 3 ? ", …" : ""
        self.init(
            lines: (
                differences.prefix(3).map(\.expected).joined(separator: ", ") + more,
                differences.prefix(3).map(\.actual).joined(separator: ", ") + more
            ))
    }

    /// Adds the path, such as `items[2].name`, before both lines.
    init(path: String, _ difference: Difference) {
        (expected, actual) = ("\(path): \(difference.expected)", "\(path): \(difference.actual)")
    }

    /// Adds `hint` after what was expected.
    func adding(_ hint: String) -> Difference { Difference(lines: (expected + hint, actual)) }

    private init(lines: (String, String)) { (expected, actual) = lines }

    private static func excerpts(_ first: String, _ second: String) -> (String, String) {
        let texts = (Array(first.unicodeScalars), Array(second.unicodeScalars))
        let offset = zip(texts.0, texts.1).enumerated().first { $1.0 != $1.1 }?.offset ?? min(texts.0.count, texts.1.count)
        let start = texts.0 == texts.1 || offset < 150 ? 0 : offset - 50
        func excerpt(_ text: [Unicode.Scalar]) -> String {
            let part = String(String.UnicodeScalarView(text.dropFirst(start).prefix(200)))
            return (start > 0 ? "…" : "") + part + (text.count > start + 200 ? "…" : "")
        }
        return (excerpt(texts.0), excerpt(texts.1))
    }
}

extension Data {
    /// The redacted text of a body. If it is not text, or `offset` is far from its beginning, its size and the byte at `offset`.
    fileprivate func excerpt(around offset: Int) -> String {
        guard !isEmpty else { return "no body" }
        let text = ReportRedactor.standard.redactedText(of: self)
        if offset < 65_536, let text { return String(text.prefix(65_536)) }
        let byte =
            offset < count ? "byte \(offset) is 0x\(String(self[startIndex + offset], radix: 16, uppercase: true))" : "no byte \(offset)"
        return "\(count) bytes\(text == nil ? " that are not text" : ""), \(byte)"
    }
}

extension String {
    /// The lines that are not empty, joined into one.
    fileprivate var joined: String { split(whereSeparator: \.isNewline).joined(separator: " ").onOneLine }

    /// The characters that a reader sees.
    fileprivate var visible: String {
        String(
            unicodeScalars.filter {
                !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
            })
    }

    fileprivate var escaped: String { "\"\(unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\"" }
}
