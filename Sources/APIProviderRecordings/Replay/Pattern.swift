import Foundation

/// A text of a request in which the placeholders of the test's and the environment's secrets match other texts.
struct Pattern: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        /// Takes a text if it is free. Otherwise it must equal the text that the placeholder has taken elsewhere.
        case placeholder(String, isFree: Bool)
    }

    private let pieces: [Piece]
    /// Whether a placeholder in it takes a text.
    let isFree: Bool
    /// Whether the text is another in each request, and is not kept.
    private let isForgotten: Bool

    /// `nil` if no placeholder in the text matches others.
    init?(_ text: String, at place: String, _ placeholders: Placeholders) {
        let bytes = Array(text.utf8)
        var (pieces, copied, isFree): ([Piece], Int, Bool) = ([], 0, false)
        for (range, placeholder) in placeholders.occurrences(in: text) where !placeholders.isFromResponse(placeholder) {
            if range.lowerBound > copied { pieces.append(.text(Array(bytes[copied..<range.lowerBound]))) }
            let takesText = placeholders.places[placeholder]?.contains(place) == true
            pieces.append(.placeholder(placeholder, isFree: takesText))
            isFree = isFree || takesText
            copied = range.upperBound
        }
        guard !pieces.isEmpty else { return nil }
        if copied < bytes.count { pieces.append(.text(Array(bytes[copied...]))) }
        (self.pieces, self.isFree) = (pieces, isFree)
        isForgotten = ["x-amz-signature", "x-amz-credential", "x-goog-signature", "x-goog-credential"].contains {
            place.lowercased() == "query \($0)"
        }
    }

    func matches(_ text: String, _ attempt: inout Attempt) -> Bool {
        guard !isForgotten else { return true }
        let bytes = Array(text.utf8)
        var position = 0
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let part):
                guard bytes[position...].starts(with: part) else { return false }
                position += part.count
            case .placeholder(let placeholder, let isFree):
                guard let end = end(ofPlaceholderAt: index, in: bytes, from: position),
                    attempt.takes(Array(bytes[position..<end]).text, for: placeholder, isFree: isFree)
                else { return false }
                position = end
            }
        }
        return position == bytes.count
    }

    /// The end of the text of a placeholder: before the next piece.
    private func end(ofPlaceholderAt index: Int, in bytes: [UInt8], from position: Int) -> Int? {
        guard index + 1 < pieces.count, case .text(let next) = pieces[index + 1] else { return bytes.count }
        if index + 2 == pieces.count {
            let end = bytes.count - next.count
            return end >= position && bytes[end...].elementsEqual(next) ? end : nil
        }
        return bytes.firstOffset(of: next, from: position)
    }
}

/// The texts that placeholders have in one replay.
struct Bindings: Sendable {
    private(set) var texts: [String: String] = [:]
    /// The placeholder of each text of eight bytes or more, for each beginning of placeholders.
    fileprivate var owners: [[String]: String] = [:]

    mutating func take(_ attempt: Attempt) {
        for (placeholder, text) in attempt.newTexts {
            texts[placeholder] = text
            if text.utf8.count >= 8 { owners[[placeholder.label, text]] = placeholder }
        }
    }
}

/// The texts that placeholders would get if an entry answered a request.
struct Attempt {
    private let bindings: Bindings
    private let placeholders: Placeholders
    fileprivate(set) var newTexts: [String: String] = [:]

    init(_ bindings: Bindings, _ placeholders: Placeholders) { (self.bindings, self.placeholders) = (bindings, placeholders) }

    /// Whether a placeholder may stand for a text.
    mutating func takes(_ text: String, for placeholder: String, isFree: Bool) -> Bool {
        if let known = newTexts[placeholder] ?? bindings.texts[placeholder] { return known == text || known.decoded == text.decoded }
        guard isFree else { return text == placeholder }
        // Whoever sends a secret of a response here does not send the secret of the test.
        guard !placeholders.occurrences(in: text).contains(where: { placeholders.isFromResponse($0.placeholder) }) else { return false }
        let label = placeholder.label
        if label == "state" || label == "nonce", !text.looksRandom { return false }
        if text.utf8.count >= 8, bindings.owners[[label, text]] != nil { return false }
        if text.utf8.count >= 8, newTexts.contains(where: { $0.value == text && $0.key.label == label }) { return false }
        newTexts[placeholder] = text
        return true
    }
}

extension String {
    /// The beginning of a placeholder, such as `token`.
    fileprivate var label: String { lastIndex(of: "-").map { String(self[..<$0]) } ?? "" }

    /// Without escapes. It may stand in one place with them, and in another without.
    fileprivate var decoded: [UInt8] { Array(utf8).decodingEscapes().replacing([UInt8(ascii: "+")], with: [0x20]) }
}
