/// The texts that the placeholders stand for in one replay.
struct Bindings: Sendable {
    private(set) var values: [String: [UInt8]] = [:]
    /// How many placeholders have got their text since `count` was last set to 0.
    var count = 0
    /// The placeholder that has a text, and last met another.
    private(set) var conflict: String?

    mutating func bind(_ placeholder: String, to text: [UInt8], isIgnored: Bool) {
        if !isIgnored { count += 1 }
        values[placeholder] = text
    }

    mutating func noteConflict(_ placeholder: String) { conflict = placeholder }
}

/// A text of a file in which the placeholders of the test's or the environment's secrets match any text.
struct Pattern: Sendable, Equatable {
    private enum Piece: Equatable { case text([UInt8]), placeholder(String) }

    /// With the placeholder alone for each JWT.
    let bytes: [UInt8]
    private let pieces: [Piece]

    init(_ text: String, _ placeholders: Placeholders) {
        bytes = placeholders.canonical(Array(text.utf8))
        var (pieces, copied): ([Piece], Int) = ([], 0)
        for (range, placeholder) in placeholders.occurrences(in: bytes) where !placeholders.isFromResponse(placeholder) {
            if range.lowerBound > copied { pieces.append(.text(Array(bytes[copied..<range.lowerBound]))) }
            pieces.append(.placeholder(placeholder))
            copied = range.upperBound
        }
        if copied < bytes.count { pieces.append(.text(Array(bytes[copied...]))) }
        self.pieces = pieces
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether it has placeholders that match other texts.
    var hasPlaceholders: Bool { pieces.contains { if case .placeholder = $0 { true } else { false } } }

    func matches(_ other: Pattern, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        let text = other.bytes
        guard hasPlaceholders else { return bytes == text }
        var position = 0
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let part):
                guard text[position...].starts(with: part) else { return false }
                position += part.count
            case .placeholder(let placeholder):
                guard let end = end(ofPlaceholderAt: index, in: text, from: position) else { return false }
                let captured = Array(text[position..<end])
                guard Self.bind(placeholder, captured, placeholders, &bindings) else { return false }
                position = end
            }
        }
        return position == text.count
    }

    /// The end of the text of a placeholder: before the next piece.
    private func end(ofPlaceholderAt index: Int, in text: [UInt8], from position: Int) -> Int? {
        guard index + 1 < pieces.count, case .text(let next) = pieces[index + 1] else { return text.count }
        if index + 2 == pieces.count {
            let end = text.count - next.count
            return end >= position && text[end...].elementsEqual(next) ? end : nil
        }
        return text.firstOffset(of: next, from: position + 1)
    }

    /// Gives the placeholder its text, or compares it with the text that it has.
    static func bind(_ placeholder: String, _ text: [UInt8], _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        let isIgnored = placeholders.origins[placeholder] == .ignored
        if !isIgnored {
            if let value = bindings.values[placeholder] {
                if isSame(value, text) { return true }
                bindings.noteConflict(placeholder)
                return false
            }
            guard !text.isEmpty, !placeholders.occurrences(in: text).contains(where: { placeholders.isFromResponse($0.placeholder) }) else {
                return false
            }
        }
        bindings.bind(placeholder, to: text, isIgnored: isIgnored)
        return true
    }

    /// Whether both are the same text, one of them maybe with escapes.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        func plain(_ text: [UInt8]) -> [UInt8] { SourceText(text).decodingJSON().decodingPercent(plusIsSpace: true).bytes }
        return one == other || plain(one) == plain(other)
    }
}
