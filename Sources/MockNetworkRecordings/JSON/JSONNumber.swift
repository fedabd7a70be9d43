import Foundation

/// A number of JSON, compared by its exact value: `1`, `1.0` and `10e-1` are equal, and no digit is lost.
struct JSONNumber: Sendable, Equatable {
    /// The number as it is written.
    let text: String
    private let isNegative: Bool
    /// Without zeros at either end; empty for zero.
    private let digits: Substring
    /// The power of ten of the last digit.
    private let exponent: Int

    /// - Parameter text: A number of JSON (RFC 8259, section 6).
    init(_ text: String) {
        self.text = text
        let parts = text.lowercased().split(separator: "e")
        let mantissa = parts[0].drop { $0 == "-" }
        let fraction = mantissa.drop { $0 != "." }.dropFirst()
        let all = mantissa.filter { $0 != "." }.drop { $0 == "0" }
        let zeros = all.reversed().prefix { $0 == "0" }.count
        digits = all.dropLast(zeros)
        isNegative = text.hasPrefix("-") && !digits.isEmpty
        let power = parts.count > 1 ? Int(parts[1]) ?? (parts[1].hasPrefix("-") ? .min : .max) : 0
        // Exponents beyond these limits count as the same.
        exponent = digits.isEmpty ? 0 : min(max(power, .min / 2), .max / 2) - fraction.count + zeros
    }

    static func == (lhs: JSONNumber, rhs: JSONNumber) -> Bool {
        (lhs.isNegative, lhs.digits, lhs.exponent) == (rhs.isNegative, rhs.digits, rhs.exponent)
    }
}
