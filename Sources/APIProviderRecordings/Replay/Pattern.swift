import Foundation

/// A text of a request in which the placeholders of the test's and the environment's secrets match other texts.
struct Pattern: Sendable {
    /// What is before, between and after the placeholders.
    private let literals: [[UInt8]]
    private let placeholders: [String]
    /// The placeholders that take a text here. Others must have the text that they have elsewhere.
    private let free: Set<String>
    /// Whether the text is another in each request, and is not kept.
    private let isForgotten: Bool

    /// `nil` if no placeholder in the text matches others.
    init?(_ text: String, at place: String, _ all: Placeholders) {
        let (bytes, found) = (Array(text.utf8), all.occurrences(in: text, at: place).filter { !all.isFromResponse($0.placeholder) })
        guard !found.isEmpty else { return nil }
        let starts = [0] + found.map(\.range.upperBound), ends = found.map(\.range.lowerBound) + [bytes.count]
        literals = zip(starts, ends).map { Array(bytes[$0..<$1]) }
        placeholders = found.map(\.placeholder)
        free = Set(placeholders.filter { all.places[$0]?.contains(place) == true })
        isForgotten = ["x-amz-signature", "x-amz-credential", "x-goog-signature", "x-goog-credential"].contains {
            "query \($0)" == place.lowercased()
        }
    }

    /// Whether a placeholder takes a text here.
    var takesText: Bool { !free.isEmpty }

    func matches(_ text: String, _ bindings: inout Bindings) -> Bool {
        guard !isForgotten else { return true }
        let bytes = Array(text.utf8)
        guard bytes.starts(with: literals[0]) else { return false }
        var start = literals[0].count
        for (placeholder, literal) in zip(placeholders, literals.dropFirst().enumerated()) {
            let isLast = literal.offset == placeholders.count - 1
            let end = isLast ? bytes.count - literal.element.count : bytes.firstOffset(of: literal.element, from: start) ?? start
            guard start <= end, bytes[end...].starts(with: literal.element),
                bindings.takes(Array(bytes[start..<end]).text, for: placeholder, isFree: free.contains(placeholder))
            else { return false }
            start = end + literal.element.count
        }
        return true
    }
}

/// The texts that placeholders have in one replay.
struct Bindings: Sendable {
    private let placeholders: Placeholders
    private(set) var texts: [String: String] = [:]
    /// The texts of eight bytes or more, each behind the beginning of its placeholder. No other placeholder of that beginning has it.
    private var taken: Set<[UInt8]> = []

    init(_ placeholders: Placeholders) { self.placeholders = placeholders }

    /// Whether a placeholder may stand for a text. If it has none, it has this one from now on.
    mutating func takes(_ text: String, for placeholder: String, isFree: Bool) -> Bool {
        if let known = texts[placeholder] {
            // It may stand in one place with escapes, and in another without.
            let (known, text) = (known.decodingEscapes, text.decodingEscapes)
            return known.hasSameBytes(as: text) || known.hasSameBytes(as: text.replacingOccurrences(of: "+", with: " "))
        }
        guard isFree else { return text == placeholder }
        // Whoever sends a secret of a response here does not send the secret of the test.
        guard !placeholders.occurrences(in: text).contains(where: { placeholders.isFromResponse($0.placeholder) }) else { return false }
        let label = placeholder.lastIndex(of: "-").map { placeholder[..<$0] } ?? ""
        if label == "state" || label == "nonce", !text.looksRandom { return false }
        if text.utf8.count >= 8, !taken.insert(Array("\(label) \(text)".utf8)).inserted { return false }
        texts[placeholder] = text
        return true
    }
}
