public import Foundation

/// What may stand in a query or a form.
///
/// Strings, the integers, floating-point numbers, `Bool`, `Date` (ISO 8601, in UTC), `URL`, `UUID`, and arrays and optionals of one. An enum
/// with a raw value declares the conformance and needs no body:
///
/// ```swift
/// enum Order: String, QueryValue { case ascending = "asc", descending = "desc" }
/// ```
public protocol QueryValue: Sendable {
    /// The values that stand behind the key: none leaves the key out, several repeat it in their order.
    var queryValues: [String] { get }
}

extension QueryValue {
    /// The value's description.
    public var queryValues: [String] { ["\(self)"] }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// What the raw value stands for.
    public var queryValues: [String] { rawValue.queryValues }
}

extension String: QueryValue {}
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

extension Date: QueryValue {
    /// The date as `2026-11-21T09:30:00Z` (ISO 8601, to the second).
    public var queryValues: [String] { [formatted(.iso8601)] }
}

extension URL: QueryValue {
    /// The whole URL.
    public var queryValues: [String] { [absoluteString] }
}

extension UUID: QueryValue {
    /// The UUID with hyphens, in upper case.
    public var queryValues: [String] { [uuidString] }
}

extension Array: QueryValue where Element: QueryValue {
    /// The values of each element, in their order.
    public var queryValues: [String] { flatMap(\.queryValues) }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// The value's own, or none.
    public var queryValues: [String] { map(\.queryValues) ?? [] }
}
