extension String {
    /// The text on one line. It comes from a server, so characters that control the terminal or the direction of text are left out.
    var printable: String {
        let spaces: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        let turns: [ClosedRange<UInt32>] = [0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069]
        return String(
            String.UnicodeScalarView(
                unicodeScalars.lazy.filter { scalar in !turns.contains { $0.contains(scalar.value) } }
                    .map { spaces.contains($0.properties.generalCategory) ? " " : $0 }))
    }

    /// The number of columns that the text takes in a terminal.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    func padding(to width: Int) -> String { self + String(repeating: " ", count: max(width - columns, 0)) }

    func cut(to limit: Int) -> String {
        guard columns > limit else { return self }
        var width = 1
        let beginning = prefix {
            width += $0.columns
            return width <= limit
        }
        return beginning + "…"
    }
}

extension Character {
    /// Two for an emoji. Otherwise the columns of its scalars: in Thai or Devanagari, one character may take two.
    fileprivate var columns: Int {
        if unicodeScalars.contains(where: { $0.properties.isEmojiPresentation || $0 == "\u{FE0F}" }) { return 2 }
        return unicodeScalars.reduce(0) { $0 + $1.columns }
    }
}

extension Unicode.Scalar {
    /// The number of columns in a terminal: none for a combining mark, two for a wide character of Unicode's East Asian Width (UAX #11).
    fileprivate var columns: Int {
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
        ]
        let vowelsOfSyllables: [ClosedRange<UInt32>] = [0x1160...0x11FF, 0xD7B0...0xD7FF]
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        case .format: return self == "\u{AD}" ? 1 : 0
        default:
            if vowelsOfSyllables.contains(where: { $0.contains(value) }) { return 0 }
            return wide.contains { $0.contains(value) } ? 2 : 1
        }
    }
}
