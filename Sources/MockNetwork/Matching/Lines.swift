package import Foundation

/// A request, or a part of it, as lines: the values at each place, such as `query page` = 2 and `items[0].id` = 7.
///
/// Stubs match it, reports show it, and recordings compare it. Lines are equal if they have the same values at the same places, in any
/// order. A name that is sent twice is one line with two values, in their order.
package struct Lines: Sendable {
    /// A value in a message.
    package struct Value: Sendable {
        package enum Content: Sendable {
            /// Text without the escapes of its notation.
            case text(String)
            /// A number of JSON as it is written, and its ``Lines/Value/decimal(_:)`` value.
            case number(String, decimal: String)
            /// `true`, `false` or `null`.
            case literal(String)
            /// An object of JSON, whose members are lines of their own.
            case object
            /// An array of JSON with so many elements, which are lines of their own.
            case array(Int)
            /// Bytes that are not text.
            case bytes(Data)
        }

        package let content: Content
        /// The place of its bytes in the body. `nil` if the value is not in a body, or has no bytes of its own.
        package var range: Range<Int>?

        package init(_ content: Content, at range: Range<Int>? = nil) { (self.content, self.range) = (content, range) }
    }

    /// The values at each place.
    package private(set) var values: [Place: [Value]] = [:]
    /// The sum of the hashes of all values and their places. Most lines that differ have different ones.
    private var digest = 0

    package init() {}

    // MARK: - Changing

    package mutating func add(_ value: Value, at place: Place) {
        let index = values[place]?.count ?? 0
        values[place, default: []].append(value)
        digest &+= Self.digest(of: value, at: place, index)
    }

    /// Adds all lines of `others`, a part of the body that begins at `offset`, within `place`.
    package mutating func add(_ others: Lines, within place: Place, offset: Int = 0) {
        for (inner, values) in others.values {
            for value in values {
                let range = value.range.map { $0.lowerBound + offset..<$0.upperBound + offset }
                add(Value(value.content, at: range), at: place.appending(inner))
            }
        }
    }

    /// Removes the lines whose places meet the condition.
    package mutating func removeAll(where condition: (Place) -> Bool) {
        for (place, removed) in values where condition(place) {
            for (index, value) in removed.enumerated() { digest &-= Self.digest(of: value, at: place, index) }
            values[place] = nil
        }
    }

    private static func digest(of value: Value, at place: Place, _ index: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(place)
        hasher.combine(index)
        hasher.combine(value)
        return hasher.finalize()
    }

    // MARK: - Comparing

    /// Whether each of `others` is here, with the same values. An object may have more members. An array may not have more elements.
    package func contains(_ others: Lines) -> Bool { others.values.allSatisfy { values[$0] == $1 } }

    /// The places at which `other` has other values than these, in order. An object or an array stands for all within it if the other side
    /// has something else there.
    ///
    /// - Parameter isSubset: Whether `other` may have more lines.
    package func places(differingFrom other: Lines, isSubset: Bool = false) -> [Place] {
        var places = values.filter { other.values[$0] != $1 }.map(\.key)
        if !isSubset { places += other.values.keys.filter { values[$0] == nil } }
        places.sort()
        var (kept, closed): ([Place], Place?) = ([], nil)
        for (index, place) in places.enumerated() where closed?.contains(place) != true {
            let sides = [values[place], other.values[place]].map { $0?.first }
            if case .array? = sides[0]?.content, case .array? = sides[1]?.content {
                // The number of its elements says less than the first one that differs.
                if index + 1 < places.count, place.contains(places[index + 1]) { continue }
            } else if sides.contains(where: { $0?.isContainer == true }) {
                closed = place
            }
            kept.append(place)
        }
        return kept
    }
}

extension Lines: Hashable {
    package static func == (lhs: Lines, rhs: Lines) -> Bool { lhs.digest == rhs.digest && lhs.values == rhs.values }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

// MARK: - Values

extension Lines.Value: Hashable {
    /// Whether both are the same value, wherever they stand. Text is compared by its bytes, as servers do, and numbers by their value.
    package static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs.content, rhs.content) {
        case (.text(let text), .text(let other)): text.hasSameBytes(as: other)
        case (.number(_, let decimal), .number(_, let other)): decimal == other
        case (.literal(let text), .literal(let other)): text == other
        case (.object, .object): true
        case (.array(let count), .array(let other)): count == other
        case (.bytes(let data), .bytes(let other)): data == other
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch content {
        case .text(let text), .number(_, let text), .literal(let text): hasher.combine(bytesOf: text)
        case .array(let count): hasher.combine(count)
        case .bytes(let data): hasher.combine(data)
        case .object: break
        }
    }

    /// A number of JSON (RFC 8259, section 6) by its digits, so that `1`, `1.0` and `10e-1` are equal, and no digit is lost.
    package static func decimal(_ text: String) -> String {
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
        switch content {
        case .text(let text): text.debugDescription
        case .number(let text, _), .literal(let text): text
        case .object: "an object"
        case .array(let count): "an array of \(count)"
        case .bytes(let data): "\(data.count) bytes that are not text"
        }
    }
}

extension Lines.Value {
    /// Whether other lines have what is within it.
    var isContainer: Bool {
        switch content {
        case .object, .array: true
        case .text, .number, .literal, .bytes: false
        }
    }
}

// MARK: - Bytes

extension StringProtocol {
    /// Whether both have the same bytes. A `String` compares characters, so an `é` of one scalar equals one of two.
    func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Hasher {
    /// Hashes `text` by its bytes.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
