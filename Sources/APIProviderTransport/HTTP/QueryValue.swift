public import Foundation

/// A value for a query or a form.
///
/// The types that conform are strings, characters, the integers, floating-point numbers, `Decimal`, `Bool`, `Date` (ISO 8601, in UTC),
/// `URL`, `UUID`, and arrays, sets and optionals of one. An enum with a raw value declares the conformance and needs no body:
///
/// ```swift
/// enum Order: String, QueryValue { case ascending = "asc", descending = "desc" }
/// ```
///
/// For an array whose elements have several types, pass its ``queryValues``: `["id": ids.queryValues]` where `ids` is `[any QueryValue]`.
public protocol QueryValue: Sendable {
    /// The values of the key. If there are none, the key is left out. If there are several, it is repeated in their order.
    var queryValues: [String] { get }
}

extension QueryValue {
    /// The value's description.
    public var queryValues: [String] {
        // Interpolation takes several times as long.
        [(self as? any LosslessStringConvertible)?.description ?? "\(self)"]
    }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The values of the raw value.
    public var queryValues: [String] { rawValue.queryValues }
}

// MARK: - Types

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Character: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Float: QueryValue {}
extension Double: QueryValue {}
extension Decimal: QueryValue {}
extension UUID: QueryValue {}

extension Date: QueryValue {
    /// The date in UTC, rounded to milliseconds: `2026-11-21T09:30:00.250Z`, or `2026-11-21T09:30:00Z` on the second (ISO 8601).
    public var queryValues: [String] { [iso8601] }

    /// The date as ``queryValues`` has it.
    package var iso8601: String {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        let style = ISO8601FormatStyle(includingFractionalSeconds: milliseconds.remainder(dividingBy: 1000) != 0)
        // The style cuts the fraction, so without a half it would write .122 for a `Double` just below .123.
        return Date(timeIntervalSince1970: (milliseconds + 0.5) / 1000).formatted(style)
    }
}

extension URL: QueryValue {
    /// The URL.
    public var queryValues: [String] { [absoluteString] }
}

extension Array: QueryValue where Element: QueryValue {
    /// The values of each element, in their order.
    public var queryValues: [String] { flatMap(\.queryValues) }
}

extension Array where Element == any QueryValue {
    /// The values of each element, in their order.
    public var queryValues: [String] { flatMap(\.queryValues) }
}

extension Set: QueryValue where Element: QueryValue {
    /// The values of each element, sorted, so the same set is always sent as the same bytes.
    public var queryValues: [String] { flatMap(\.queryValues).sorted() }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// The values of the wrapped value, or none.
    public var queryValues: [String] { map(\.queryValues) ?? [] }
}
