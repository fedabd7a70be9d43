import Foundation

// A value's place is a text: `path 1`, `query page`, `header accept`, `body.items[0].id`. Places in a body leave out `body`: `items[0].id`,
// and an empty text for the whole body. Path segments are counted from 1, array elements from 0.
//
// Names with a place's marks, or with another equal spelling, get percent escapes, so that places are unambiguous.
extension String {
    /// A member's place in the object at this place.
    func member(_ name: String) -> String {
        let name = name.isEmpty ? "\"\"" : name.utf8.contains(where: { ".[]@%\"".utf8.contains($0) }) ? name.escapingMarks : name
        guard !isEmpty else { return name.uniqueSpelling }
        var place = self
        place += "."
        place += name.uniqueSpelling
        return place
    }

    /// An element's place in the array at this place.
    func element(_ index: Int) -> String {
        var place = self
        place += "["
        place += String(index)
        place += "]"
        return place
    }

    /// The place `inner` within this place.
    package func appending(_ inner: String) -> String {
        isEmpty || inner.isEmpty || inner.first == "[" || inner.first == "@" ? self + inner : "\(self).\(inner)"
    }

    /// Whether this place is within `other`.
    func isWithin(_ other: String) -> Bool {
        utf8.count > other.utf8.count && hasPrefix(other) && (other.isEmpty || ".[@".contains(dropFirst(other.count).first ?? " "))
    }

    /// Compares characters, and element numbers by their values.
    func isBefore(_ other: String) -> Bool { compare(other, options: .numeric) == .orderedAscending }

    private var escapingMarks: String {
        ["%", ".", "[", "]", "@", "\""].reduce(self) { text, mark in
            text.replacingOccurrences(of: mark, with: "%" + String(mark.utf8.first ?? 0, radix: 16, uppercase: true))
        }
    }

    /// A composed text itself, or else the bytes with escapes: Swift strings are equal in any composition.
    var uniqueSpelling: String {
        guard utf8.contains(where: { $0 >= 0x80 }), !hasSameBytes(as: precomposedStringWithCanonicalMapping) else { return self }
        return addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: "\u{1}"..."\u{7F}")) ?? self
    }
}

// MARK: - Names

extension String {
    /// Whether `ignoring: [name]` leaves out the line at this place of a request.
    ///
    /// A bare name, such as `id`, stands for each value with that name in the query, the headers, the cookies and the body. A line's own
    /// name stands for that line and everything inside: `path 2`, `query page`, `body.items[].id`, or the end of a name, such as
    /// `items[].id` and `photo.filename`. The method and the host have no name.
    package func isPlace(named name: String) -> Bool {
        let (mine, wanted) = (dottedNames, name.dottedNames)
        // A query item's, header's or cookie's name may contain any characters.
        if let kind = ["path ", "query ", "header ", "cookie "].first(where: mine.hasPrefix) {
            let name = kind == "header " ? wanted.lowercased() : wanted
            return mine == name || kind != "path " && mine.dropFirst(kind.count) == name
        }
        guard let dot = mine.firstIndex(of: ".") else { return false }
        return wanted.contains(".") && "\(mine).".hasPrefix("\(wanted).") || "\(mine[dot...]).".contains(".\(wanted).")
    }

    /// The names in this place, joined by dots, without element numbers and escapes.
    var dottedNames: String { names.joined(separator: ".") }

    /// The names in this place, without element numbers and escapes. A name may contain dots itself.
    var names: [String] {
        let names = contains("[") ? replacingOccurrences(of: #"\[\d*\]"#, with: "", options: .regularExpression) : self
        return names.replacingOccurrences(of: "@", with: ".").parts(between: UInt8(ascii: "."))
            .map { $0.removingPercentEncoding ?? String($0) }
    }
}
