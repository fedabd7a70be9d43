import Foundation

/// The place of a value in a request, or in a part of one: `path 1`, `query page`, `header accept`, `body.items[0].id`. Within a body, it
/// is the place without `body`, such as `items[0].id`, and an empty text for the whole body.
///
/// Segments of a path are counted from 1, and elements of an array from 0.
package struct Place: Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The whole of a part.
    static let whole = Place("")

    /// The place of a member of the object at this place. What would look like several names has percent escapes.
    func member(_ name: String) -> Place {
        var name = name
        if name.isEmpty { name = "\"\"" } else if name.utf8.contains(where: Self.marks.contains) { name = name.escapingMarks }
        return Place(text.isEmpty ? name : "\(text).\(name)")
    }

    fileprivate static let marks = Set(".[]@%\"".utf8).union(0..<0x20)

    /// The place of an element of the array at this place.
    func element(_ index: Int) -> Place { Place("\(text)[\(index)]") }

    /// The place `inner` within this place.
    func appending(_ inner: Place) -> Place {
        guard let first = inner.text.utf8.first else { return self }
        return Place(text.isEmpty || "[@".utf8.contains(first) ? text + inner.text : "\(text).\(inner.text)")
    }

    /// Whether `other` is within this place.
    func contains(_ other: Place) -> Bool {
        guard other.text.utf8.count > text.utf8.count, other.text.utf8.starts(with: text.utf8) else { return false }
        return text.isEmpty || other.text.utf8.dropFirst(text.utf8.count).first?.isSeparator == true
    }
}

extension Place: Hashable, Comparable, CustomStringConvertible {
    package static func == (lhs: Place, rhs: Place) -> Bool { lhs.text.hasSameBytes(as: rhs.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }

    /// By the bytes, and by the numbers of elements. What is within a place follows it.
    package static func < (lhs: Place, rhs: Place) -> Bool {
        var (left, right) = (lhs.text.utf8[...], rhs.text.utf8[...])
        while let first = left.first, let second = right.first {
            let counts = (left.prefix(while: \.isDigit).count, right.prefix(while: \.isDigit).count)
            if counts.0 > 0, counts.1 > 0, counts.0 != counts.1 { return counts.0 < counts.1 }
            if first != second { return (first.isSeparator ? 0 : 1, first) < (second.isSeparator ? 0 : 1, second) }
            (left, right) = (left.dropFirst(), right.dropFirst())
        }
        return left.isEmpty && !right.isEmpty
    }

    package var description: String { text }
}

// MARK: - Names

extension Place {
    /// Whether `name` stands for this line of a request, so that `ignoring: [name]` leaves the line out.
    ///
    /// A bare name, such as `id`, stands for each value of that name in the query, the headers, the cookies and the body. The own name of a
    /// line stands for that line: `path 2`, `query page`, `body.items[].id`, or the end of it, such as `items[].id` and `photo.filename`.
    /// What is within a line goes with it. The method and the host have no name.
    package func isNamed(_ name: String) -> Bool {
        let (mine, wanted) = (plainText, Place(name).plainText)
        // The name of a query item, a header or a cookie may have any characters.
        if let kind = ["path ", "query ", "header ", "cookie "].first(where: mine.hasPrefix) {
            return mine.hasSameBytes(as: wanted) || kind != "path " && mine.dropFirst(kind.count).hasSameBytes(as: wanted)
        }
        guard let dot = mine.firstIndex(of: ".") else { return false }
        let isOwn = wanted.contains(".") && "\(mine).".hasPrefix("\(wanted).")
        return isOwn || "\(mine[dot...]).".contains(".\(wanted).")
    }

    /// The names of which it consists, joined by dots, without the numbers of elements and without escapes.
    private var plainText: String {
        let names = text.replacingOccurrences(of: #"\[\d*\]"#, with: "", options: .regularExpression)
        return names.replacingOccurrences(of: "@", with: ".").removingPercentEncoding ?? names
    }
}

extension UInt8 {
    /// Whether it separates a place from what is within it.
    fileprivate var isSeparator: Bool { ".[@".utf8.contains(self) }
}

extension String {
    /// The text with percent escapes for the marks of a place.
    fileprivate var escapingMarks: String {
        unicodeScalars.map { scalar in
            let isMark = scalar.isASCII && Place.marks.contains(UInt8(scalar.value))
            return isMark ? "%" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16, uppercase: true) : String(scalar)
        }.joined()
    }
}
