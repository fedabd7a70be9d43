/// The texts that the placeholders stand for in one replay.
struct Bindings: Sendable {
    private(set) var values: [String: [UInt8]] = [:]
    /// How many placeholders have got their text since `count` was last set to 0.
    var count = 0
    /// The placeholder that has a text, and last met another.
    private(set) var conflict: String?

    mutating func bind(_ name: String, to text: [UInt8], isIgnored: Bool) {
        if !isIgnored { count += 1 }
        values[name] = text
    }

    mutating func noteConflict(_ name: String) { conflict = name }
}

/// A text of a file in which the placeholders of the test's or the environment's secrets match any text.
struct Pattern: Sendable, Equatable {
    private enum Piece: Equatable { case text([UInt8]), name(String) }

    /// With the placeholder alone for each JWT.
    let bytes: [UInt8]
    private let pieces: [Piece]

    init(_ text: String, _ placeholders: Placeholders) {
        bytes = placeholders.canonical(Array(text.utf8))
        var (pieces, copied): ([Piece], Int) = ([], 0)
        for (range, name) in placeholders.occurrences(in: bytes) where !placeholders.isFromResponse(name) {
            if range.lowerBound > copied { pieces.append(.text(Array(bytes[copied..<range.lowerBound]))) }
            pieces.append(.name(name))
            copied = range.upperBound
        }
        if copied < bytes.count { pieces.append(.text(Array(bytes[copied...]))) }
        self.pieces = pieces
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether it has placeholders that match other texts.
    var hasPlaceholders: Bool { pieces.contains { if case .name = $0 { true } else { false } } }

    func matches(_ other: Pattern, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        let text = other.bytes
        guard hasPlaceholders else { return bytes == text }
        var position = 0
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let part):
                guard text[position...].starts(with: part) else { return false }
                position += part.count
            case .name(let name):
                guard let end = end(ofNameAt: index, in: text, from: position) else { return false }
                let captured = Array(text[position..<end])
                guard Self.bind(name, captured, placeholders, &bindings) else { return false }
                position = end
            }
        }
        return position == text.count
    }

    /// The end of the text of a placeholder: before the next piece.
    private func end(ofNameAt index: Int, in text: [UInt8], from position: Int) -> Int? {
        guard index + 1 < pieces.count, case .text(let next) = pieces[index + 1] else { return text.count }
        if index + 2 == pieces.count {
            let end = text.count - next.count
            return end >= position && text[end...].elementsEqual(next) ? end : nil
        }
        return text.firstOffset(of: next, from: position + 1)
    }

    /// Gives the placeholder its text, or compares it with the text that it has.
    static func bind(_ name: String, _ text: [UInt8], _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        let isIgnored = placeholders.origins[name] == .ignored
        if !isIgnored {
            if let value = bindings.values[name] {
                if isSame(value, text) { return true }
                bindings.noteConflict(name)
                return false
            }
            guard !text.isEmpty, !placeholders.occurrences(in: text).contains(where: { placeholders.isFromResponse($0.name) }) else {
                return false
            }
        }
        bindings.bind(name, to: text, isIgnored: isIgnored)
        return true
    }

    /// Whether both are the same text, one of them maybe with escapes.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        func plain(_ text: [UInt8]) -> [UInt8] { SourceText(text).decodingJSON().decodingPercent(plusIsSpace: true).bytes }
        return one == other || plain(one) == plain(other)
    }
}
