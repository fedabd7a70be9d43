import APIProvider
import Foundation

/// A request's text with placeholders for other texts: for the secrets of the test and the environment.
struct Pattern: Sendable {
    /// The texts before, between and after the placeholders.
    private let literals: [Data]
    private let placeholders: [String]
    /// The placeholders that take any text here. Others match only the text that they took elsewhere.
    private let free: Set<String>
    /// Whether the text changes in each request.
    private let isSignature: Bool

    /// `nil` without such a placeholder.
    init?(_ text: String, at place: String, _ all: Placeholders) {
        let (bytes, found) = (Array(text.utf8), all.occurrences(in: text, at: place).filter { !all.isFromResponse($0.placeholder) })
        guard !found.isEmpty else { return nil }
        let starts = [0] + found.map(\.range.upperBound), ends = found.map(\.range.lowerBound) + [bytes.count]
        literals = zip(starts, ends).map { Data(bytes[$0..<$1]) }
        placeholders = found.map(\.placeholder)
        free = Set(placeholders.filter { all.places[$0]?.contains(place) == true })
        isSignature = ["x-amz-signature", "x-amz-credential", "x-goog-signature", "x-goog-credential"].contains {
            "query \($0)" == place.lowercased()
        }
    }

    /// Whether a placeholder takes any text here.
    var takesText: Bool { !free.isEmpty }

    func matches(_ text: String, _ bindings: inout Bindings) -> Bool {
        guard !isSignature else { return true }
        let bytes = Data(text.utf8)
        guard bytes.starts(with: literals[0]) else { return false }
        var start = literals[0].count
        for (placeholder, literal) in zip(placeholders, literals.dropFirst().enumerated()) {
            let isLast = literal.offset == placeholders.count - 1
            let next = isLast ? nil : bytes.range(of: literal.element, in: start..<bytes.count)?.lowerBound
            let end = isLast ? bytes.count - literal.element.count : next ?? start
            guard start <= end, bytes[end...].starts(with: literal.element) else { return false }
            let taken = Array(bytes[start..<end]).text
            guard bindings.texts[placeholder] != nil || !ends(taken, behind: literals[literal.offset]),
                bindings.bind(taken, to: placeholder, isFree: free.contains(placeholder))
            else { return false }
            start = end + literal.element.count
        }
        return true
    }

    /// Whether a value without quotes ends within the text: another one follows, as in `token=…&user=bob`.
    private func ends(_ text: String, behind literal: Data) -> Bool {
        guard let mark = literal.last(where: { $0 != 0x20 }), let ends = Self.ends[mark] else { return false }
        return text.utf8.contains { $0 <= 0x20 || ends.contains($0) }
    }

    private static let ends: [UInt8: Set<UInt8>] = [
        UInt8(ascii: "="): Set("&#".utf8), UInt8(ascii: ":"): Set(",;".utf8), UInt8(ascii: "/"): Set("?#".utf8),
    ]
}

/// The placeholders' texts in one replay.
struct Bindings: Sendable {
    private let placeholders: Placeholders
    private(set) var texts: [String: String] = [:]
    /// The texts of eight bytes or more, behind their placeholders' labels. No two placeholders with one label share such a text.
    private var taken: Set<[UInt8]> = []
    /// The placeholders that a response had before a request gave them a text: the app may send them back.
    private var shown: Set<String> = []
    /// The secrets of another program's file. Its responses have them: the app may send them back.
    private let recorded: [String: String]
    /// The number of placeholders with another text than the recorded one.
    private(set) var otherCount = 0

    init(_ placeholders: Placeholders, recorded: [String: String] = [:]) { (self.placeholders, self.recorded) = (placeholders, recorded) }

    mutating func show(_ exchange: RecordedExchange) {
        // A body may be large.
        guard texts.count < placeholders.countWithPlaces else { return }
        let response = Message(exchange, isResponse: true).texts.text
        shown.formUnion(placeholders.occurrences(in: response).map(\.placeholder).filter { texts[$0] == nil })
    }

    /// Returns whether the placeholder may stand for the text, which becomes the placeholder's text.
    mutating func bind(_ text: String, to placeholder: String, isFree: Bool) -> Bool {
        // A response has no other text for a short number.
        if shown.contains(placeholder) || placeholder.utf8.count < 8, text.hasSameBytes(as: placeholder) { return true }
        if recorded[placeholder]?.decodingEscapes.hasSameBytes(as: text.decodingEscapes) == true {
            if isFree { texts[placeholder] = texts[placeholder] ?? text }
            return true
        }
        if let known = texts[placeholder] {
            // One place may need escapes that another does not.
            let (known, text) = (known.decodingEscapes, text.decodingEscapes)
            return known.hasSameBytes(as: text) || known.hasSameBytes(as: text.replacingOccurrences(of: "+", with: " ", options: .literal))
        }
        guard isFree else { return text == placeholder }
        // A response's secret is not the test's secret.
        guard !placeholders.occurrences(in: text).contains(where: { placeholders.isFromResponse($0.placeholder) }) else { return false }
        let label = placeholder.lastIndex(of: "-").map { placeholder[..<$0] } ?? ""
        if label == "state" || label == "nonce", !text.looksRandom { return false }
        if text.utf8.count >= 8, !taken.insert(Array("\(label) \(text)".utf8)).inserted { return false }
        texts[placeholder] = text
        otherCount += recorded[placeholder] == nil ? 0 : 1
        return true
    }
}
