public import Foundation

/// A value for a query or a form.
///
/// Strings, characters, integers, floating-point numbers, `Decimal`, `Bool`, `Date` (ISO 8601, in UTC), `URL` and `UUID` conform, and so do
/// arrays, sets and optionals of one. An enum with a raw value declares the conformance and needs no body:
///
/// ```swift
/// enum Order: String, QueryValue { case ascending = "asc", descending = "desc" }
/// ```
///
/// For an array with elements of several types, pass their values: `["id": ids.flatMap(\.queryValues)]` where `ids` is `[any QueryValue]`.
public protocol QueryValue: Sendable {
    /// The key's values. Without any, the key is left out. With several, the key is repeated in order.
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
    /// The raw value's values.
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

    /// The date as in ``queryValues``.
    var iso8601: String {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        let style = ISO8601FormatStyle(includingFractionalSeconds: milliseconds.remainder(dividingBy: 1000) != 0)
        // The style truncates the fraction: without the half, a `Double` just below .123 would become .122.
        return Date(timeIntervalSince1970: (milliseconds + 0.5) / 1000).formatted(style)
    }
}

extension URL: QueryValue {
    /// The URL.
    public var queryValues: [String] { [absoluteString] }
}

extension Array: QueryValue where Element: QueryValue {
    /// The elements' values, in order.
    public var queryValues: [String] { flatMap(\.queryValues) }
}

extension Set: QueryValue where Element: QueryValue {
    /// The elements' values, sorted, so that equal sets are sent as equal bytes.
    public var queryValues: [String] { flatMap(\.queryValues).sorted() }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// The wrapped value's values, or none.
    public var queryValues: [String] { map(\.queryValues) ?? [] }
}
