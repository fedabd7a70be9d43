import APIProvider
import Foundation

/// A stub's expectation and the request's value, as two different lines.
package struct Mismatch {
    let name: String
    package private(set) var expected: String
    package private(set) var actual: String

    /// Shows two texts without secrets, around the first difference.
    ///
    /// Invisible differences, such as spaces, are escaped. Equal texts differed in their secrets.
    package init(_ name: String, expected: String, actual: String) {
        var lines = Self.excerpts(expected.joined, actual.joined)
        let isSame = expected.hasSameBytes(as: actual)
        if !isSame, lines.0.visible == lines.1.visible { lines = Self.excerpts(expected.escaped, actual.escaped) }
        (self.name, self.expected) = (name, lines.0)
        self.actual = isSame ? "\(lines.1) (differs, but is not shown)" : lines.1
    }

    /// Shows two bodies around the first difference; after a text's first 64 KB, the different byte.
    init(_ name: String, expected: BodyLines, actual: BodyLines, _ redactor: ReportRedactor) {
        let offset = zip(expected.data, actual.data).prefix { $0 == $1 }.count
        self.init(
            name, expected: redactor.excerpt(of: expected, around: offset), actual: redactor.excerpt(of: actual, around: offset))
    }

    /// Joins the first three of the `mismatches`, at least one.
    init(_ name: String, joining mismatches: [Mismatch]) {
        let more = mismatches.count > 3 ? ", …" : ""
        self.name = name
        expected = mismatches.prefix(3).map(\.expected).joined(separator: ", ") + more
        actual = mismatches.prefix(3).map(\.actual).joined(separator: ", ") + more
    }

    /// The same, with `hint` after the expected line.
    func adding(_ hint: String) -> Mismatch {
        var copy = self
        copy.expected += hint
        return copy
    }

    /// The same, with the names of the request's parts, if any, before its values.
    func naming(_ parts: String?) -> Mismatch {
        var copy = self
        if let parts { copy.actual = "\(parts.onOneLine); \(actual)" }
        return copy
    }

    /// The same, with the body's `place` before both lines.
    func at(_ place: String) -> Mismatch {
        var copy = self
        if !place.isEmpty { (copy.expected, copy.actual) = ("\(place): \(expected)", "\(place): \(actual)") }
        return copy
    }

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

extension Mismatch: CustomStringConvertible {
    package var description: String {
        """
        \(name.padding(toLength: 8, withPad: " ", startingAt: 0))expected  \(expected)
                got       \(actual)
        """
    }
}

extension ReportRedactor {
    /// The body's beginning, on one line.
    func excerpt(of body: BodyLines) -> String {
        guard !body.data.isEmpty else { return "no body" }
        guard let text = self.body(body) else { return "\(body.data.count) bytes that are not text" }
        let line = text.prefix(1024).split(whereSeparator: \.isNewline).joined(separator: " ")
        return (line.count > 200 ? "\(line.prefix(200))…" : line).cut(to: 1_000)
    }

    /// The body's text. For other bodies, and an `offset` far from the beginning, the size and the byte at `offset`.
    fileprivate func excerpt(of body: BodyLines, around offset: Int) -> String {
        let (text, body) = (self.body(body), body.data)
        guard !body.isEmpty else { return "no body" }
        if offset < 65_536, let text { return String(text.prefix(65_536)) }
        let byte =
            offset < body.count
            ? "byte \(offset) is 0x\(String(body[body.startIndex + offset], radix: 16, uppercase: true))" : "no byte \(offset)"
        return "\(body.count) bytes\(text == nil ? " that are not text" : ""), \(byte)"
    }
}

extension String {
    /// The nonempty lines, joined into one.
    fileprivate var joined: String { split(whereSeparator: \.isNewline).joined(separator: " ").onOneLine }

    /// The visible characters.
    fileprivate var visible: String {
        String(
            unicodeScalars.filter {
                !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
            })
    }

    fileprivate var escaped: String { "\"\(unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\"" }
}
