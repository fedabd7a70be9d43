import Foundation

/// A request, or a part of it, as lines: the values at each place, such as `query page` = 2 and `items[0].id` = 7.
///
/// Stubs match it, reports show it, and recordings compare it. Lines are equal if they have the same values at the same places, in any
/// order. A name that is sent twice is one line with two values, in their order.
package struct Lines: Sendable, Hashable {
    /// A value, and what it is in its notation.
    package struct Value: Sendable {
        package enum Kind: Sendable {
            /// Text without the escapes of its notation.
            case text
            /// A number of JSON, as it is written.
            case number
            /// `true`, `false` or `null`.
            case literal
            /// An object of JSON, whose members are lines of their own.
            case object
            /// An array of JSON, whose elements are lines of their own. The text is their number.
            case array
            /// Bytes that are not text, in Base64.
            case bytes
        }

        package let kind: Kind
        package let text: String
        /// The place of its bytes in the body. `nil` if the value is not in a body, or has no bytes of its own.
        package var range: Range<Int>?

        package init(kind: Kind, text: String, range: Range<Int>? = nil) { (self.kind, self.text, self.range) = (kind, text, range) }
    }

    package let values: [String: [Value]]
    /// Lines that differ have other ones, nearly always, so that most comparisons take no time.
    private let digest: Int

    package init(_ values: [String: [Value]] = [:]) { (self.values, digest) = (values, values.hashValue) }

    /// The texts at a place, in their order.
    package func texts(at place: String) -> [String] { (values[place] ?? []).filter { $0.kind == .text }.map(\.text) }

    package static func == (lhs: Lines, rhs: Lines) -> Bool { lhs.digest == rhs.digest && lhs.values == rhs.values }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Whether each of `others` is here, with the same values. An object may have more members. An array may not have more elements.
    package func contains(_ others: Lines) -> Bool { others.values.allSatisfy { values[$0] == $1 } }

    /// The places at which `other` has other values than these, in order. An object or an array stands for all within it if the other side
    /// has something else there.
    ///
    /// - Parameter isSubset: Whether `other` may have more lines.
    package func places(differingFrom other: Lines, isSubset: Bool = false) -> [String] {
        let others = isSubset ? [] : other.values.keys.filter { values[$0] == nil }
        let places = (values.keys.filter { other.values[$0] != values[$0] } + others).sorted { $0.isBefore($1) }
        var (kept, closed): ([String], String?) = ([], nil)
        for (index, place) in places.enumerated() where closed.map({ place.isWithin($0) }) != true {
            let kinds = [values[place], other.values[place]].map { $0?.first?.kind }
            if kinds == [.array, .array] {
                // The number of its elements says less than the first one that differs.
                if places[(index + 1)...].contains(where: { $0.isWithin(place) }) { continue }
            } else if kinds.contains(.array) || kinds.contains(.object) {
                closed = place
            }
            kept.append(place)
        }
        return kept
    }
}

// MARK: - Values

extension Lines.Value: Hashable {
    /// Whether both are the same value, wherever they stand. Text is compared by its bytes, as servers do, and numbers by their value.
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.kind == rhs.kind && (lhs.text.hasSameBytes(as: rhs.text) || lhs.kind == .number && lhs.decimal == rhs.decimal)
    }

    package func hash(into hasher: inout Hasher) {
        var text = kind == .number ? decimal : text
        hasher.combine(kind)
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The digits of a number (RFC 8259, section 6) and its power of ten, so that `1`, `1.0` and `10e-1` are equal, and no digit is lost.
    private var decimal: String {
        guard text.hasSuffix("0") || text.utf8.contains(where: { !$0.isDigit && $0 != UInt8(ascii: "-") }) else { return text }
        let parts = text.lowercased().split(separator: "e")
        let mantissa = parts[0].drop { $0 == "-" }
        let fraction = mantissa.drop { $0 != "." }.dropFirst()
        let all = mantissa.filter { $0 != "." }.drop { $0 == "0" }
        let zeros = all.reversed().prefix { $0 == "0" }.count
        guard zeros < all.count else { return "0" }
        let power = parts.count > 1 ? Int(parts[1]) ?? (parts[1].hasPrefix("-") ? .min : .max) : 0
        // Exponents beyond these limits count as the same.
        let exponent = min(max(power, .min / 2), .max / 2) - fraction.count + zeros
        return (text.hasPrefix("-") ? "-" : "") + all.dropLast(zeros) + (exponent == 0 ? "" : "e\(exponent)")
    }
}

extension Lines.Value: CustomStringConvertible {
    /// The value on one line: text in quotes, with escapes.
    package var description: String {
        switch kind {
        case .text: text.debugDescription
        case .number, .literal: text
        case .object: "an object"
        case .array: "an array of \(text)"
        case .bytes: "\(range?.count ?? 0) bytes that are not text"
        }
    }
}

extension StringProtocol {
    /// Whether both have the same bytes. A `String` compares characters, so an `é` of one scalar equals one of two.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
