import Foundation

/// A request or a part of one, as lines: the values at each place, such as `query page` = 2 and `items[0].id` = 7.
///
/// For stubs, reports and recordings. Equal lines hold the same values at the same places, in any order. A repeated name is one line with
/// several values, in order.
package struct Lines: Sendable, Hashable {
    /// A value, and its kind.
    package struct Value: Sendable {
        package enum Kind: Sendable {
            /// Text without its notation's escapes.
            case text
            /// A JSON number, as written.
            case number
            /// `true`, `false` or `null`.
            case literal
            /// A JSON object. Each member is a separate line.
            case object
            /// A JSON array. Each element is a separate line. The text is the number of elements.
            case array
            /// Binary data, in Base64.
            case bytes
        }

        package let kind: Kind
        package let text: String
        /// The bytes' place in the body; `nil` without such bytes.
        package var range: Range<Int>?

        package init(kind: Kind, text: String, range: Range<Int>? = nil) { (self.kind, self.text, self.range) = (kind, text, range) }
    }

    package let values: [String: [Value]]
    /// Almost always different for different lines, so most comparisons take no time.
    private let digest: Int

    package init(_ values: [String: [Value]] = [:]) { (self.values, digest) = (values, values.hashValue) }

    /// The texts at a place, in order.
    package func texts(at place: String) -> [String] { (values[place] ?? []).filter { $0.kind == .text }.map(\.text) }

    package static func == (lhs: Lines, rhs: Lines) -> Bool { lhs.digest == rhs.digest && lhs.values == rhs.values }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Whether these lines contain `others`, with the same values. An object may have more members, but an array needs the same number of
    /// elements.
    func contains(_ others: Lines) -> Bool { others.values.allSatisfy { values[$0] == $1 } }

    /// The places with different values in `other`, in order. An object or array stands for everything inside if the other side has another
    /// kind.
    ///
    /// - Parameter isSubset: Whether `other` may have more lines.
    package func places(differingFrom other: Lines, isSubset: Bool = false) -> [String] {
        let others = isSubset ? [] : other.values.keys.filter { values[$0] == nil }
        let places = (values.keys.filter { other.values[$0] != values[$0] } + others).sorted { $0.isBefore($1) }
        var (kept, container): ([String], String?) = ([], nil)
        for (index, place) in places.enumerated() where container.map({ place.isWithin($0) }) != true {
            let kinds = [values[place], other.values[place]].map { $0?.first?.kind }
            if kinds == [.array, .array] {
                // The first different element tells more than the number of elements.
                if places[(index + 1)...].contains(where: { $0.isWithin(place) }) { continue }
            } else if kinds.contains(.array) || kinds.contains(.object) {
                container = place
            }
            kept.append(place)
        }
        return kept
    }
}

// MARK: - Values

extension Lines.Value: Hashable {
    /// Whether both are the same value, at any place. Text is compared by bytes, as on servers, and numbers by value.
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.kind == rhs.kind && (lhs.text.hasSameBytes(as: rhs.text) || lhs.kind == .number && lhs.decimal == rhs.decimal)
    }

    package func hash(into hasher: inout Hasher) {
        var text = kind == .number ? decimal : text
        hasher.combine(kind)
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// A number's digits (RFC 8259, section 6) and power of ten, so that `1`, `1.0` and `10e-1` are equal, and no digit is lost.
    private var decimal: String {
        guard text.hasSuffix("0") || text.utf8.contains(where: { !$0.isDigit && $0 != UInt8(ascii: "-") }) else { return text }
        let parts = text.lowercased().split(separator: "e")
        let mantissa = parts[0].drop { $0 == "-" }
        let fraction = mantissa.drop { $0 != "." }.dropFirst()
        let all = mantissa.filter { $0 != "." }.drop { $0 == "0" }
        let zeros = all.reversed().prefix { $0 == "0" }.count
        guard zeros < all.count else { return "0" }
        let power = parts.count > 1 ? Int(parts[1]) ?? (parts[1].hasPrefix("-") ? .min : .max) : 0
        // Exponents beyond these limits count as equal.
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
