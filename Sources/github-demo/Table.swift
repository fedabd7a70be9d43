import Foundation

/// Rows in columns that stay aligned, also with wide characters; in a terminal, cut to its width.
struct Table: CustomStringConvertible {
    private let rows: [[String]]

    init(_ rows: [[String]]) {
        // What comes from a server must not steer the terminal.
        self.rows = rows.map { $0.map { text in String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isControl ? " " : $0 })) } }
    }

    var description: String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
        let terminal = Self.terminalWidth
        return rows.map { row in
            let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.columns) }.joined(separator: "  ")
            let trimmed = String(line.reversed().drop { $0 == " " }.reversed())
            return terminal.map { trimmed.cut(toColumns: $0) } ?? trimmed
        }.joined(separator: "\n")
    }

    /// `nil` when the output goes elsewhere.
    private static var terminalWidth: Int? {
        var size = winsize()
        guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}

extension String {
    fileprivate var columns: Int { reduce(0) { $0 + $1.columns } }

    fileprivate func cut(toColumns limit: Int) -> String {
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
    /// How many columns a terminal gives this character: two for the wide ones of Unicode's East Asian Width, and for emoji.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD,
        ]
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }
}
