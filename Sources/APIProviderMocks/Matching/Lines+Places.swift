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
        isEmpty || inner.utf8.first.map("[@".utf8.contains) != false ? self + inner : "\(self).\(inner)"
    }

    /// Whether this place is within `other`.
    func isWithin(_ other: String) -> Bool {
        guard utf8.starts(with: other.utf8), let mark = utf8.dropFirst(other.utf8.count).first else { return false }
        return other.isEmpty || ".[@".utf8.contains(mark)
    }

    /// Compares characters, and element numbers by their values.
    func isBefore(_ other: String) -> Bool { compare(other, options: .numeric) == .orderedAscending }

    private var escapingMarks: String {
        ["%", ".", "[", "]", "@", "\""].reduce(self) { text, mark in
            text.replacingOccurrences(of: mark, with: "%" + String(mark.utf8.first ?? 0, radix: 16, uppercase: true), options: .literal)
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
        if let kind = ["path ", "query ", "header ", "cookie "].first(where: { mine.utf8.starts(with: $0.utf8) }) {
            let name = (kind == "header " ? wanted.lowercased() : wanted).utf8
            return mine.utf8.elementsEqual(name) || kind != "path " && mine.utf8.dropFirst(kind.utf8.count).elementsEqual(name)
        }
        guard let dot = mine.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return wanted.hasScalars(".") && "\(mine).".utf8.starts(with: "\(wanted).".utf8) || "\(mine[dot...]).".hasScalars(".\(wanted).")
    }

    /// The names in this place, joined by dots, without element numbers and escapes.
    var dottedNames: String { names.joined(separator: ".") }

    /// The names in this place, without element numbers and escapes. A name may contain dots itself.
    var names: [String] {
        let names = utf8.contains(UInt8(ascii: "[")) ? replacingOccurrences(of: #"\[\d*\]"#, with: "", options: .regularExpression) : self
        return names.replacingOccurrences(of: "@", with: ".", options: .literal).parts(between: UInt8(ascii: "."))
            .map { $0.percentDecoded ?? String($0) }
    }
}
