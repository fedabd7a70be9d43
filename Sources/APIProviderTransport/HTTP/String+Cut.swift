extension String {
    /// At most `maximum` bytes, in whole characters, with `…` in place of the rest.
    package func cut(to maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var end = startIndex
        while utf8.distance(from: startIndex, to: index(after: end)) <= maximum - 3 { end = index(after: end) }
        return self[..<end] + "…"
    }
}

extension String {
    /// The text with a space for each control character, line break and bidirectional mark. Other format characters stay: Persian and emoji
    /// need them.
    package var onOneLine: String {
        let unwanted: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        return String(
            map { character in
                let isUnwanted = character.unicodeScalars.contains {
                    unwanted.contains($0.properties.generalCategory) || $0.properties.isBidiControl
                }
                return isUnwanted ? " " : character
            })
    }

    /// `nil` for an empty or blank text.
    var nonblank: String? { contains { !$0.isWhitespace } ? self : nil }

    var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension String {
    /// The 64-bit FNV-1a hash in hexadecimal digits, for a file name.
    package var fileNameHash: String {
        String(utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }
}
