/// Options of one request, which middlewares and transports read.
///
/// ### An option of your own
///
/// Declare it as you declare a value in SwiftUI's environment, with a key that has a default and with a property:
///
/// ```swift
/// private enum PriorityKey: RequestOptionKey { static let defaultValue = 0 }
///
/// extension RequestOptions {
///     var priority: Int {
///         get { self[PriorityKey.self] }
///         set { self[PriorityKey.self] = newValue }
///     }
/// }
///
/// Endpoint<[Item]>(.get, "/items").option(\.priority, 1)
/// ```
///
/// An option that nothing reads does nothing. In a target that is isolated to the main actor, write `nonisolated private enum` and
/// `nonisolated extension`.
public struct RequestOptions: Sendable {
    @HiddenFromReflection private var values: [ObjectIdentifier: any Sendable] = [:]

    package init() {}

    /// Sets what `other` sets.
    mutating func merge(_ other: RequestOptions) { values.merge(other.values) { $1 } }

    /// The value for `key`, or the key's default.
    public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)].flatMap { $0 as? Key.Value } ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// The key of an option, and its default.
public protocol RequestOptionKey {
    /// The type of the option.
    associatedtype Value: Sendable
    /// The value for requests that do not set the option.
    static var defaultValue: Value { get }
}

extension RequestOptions {
    /// The name of the request in logs and metrics, such as `user(login:)`. Without a name, they show its URL.
    public var name: String? {
        get { self[NameKey.self] }
        set { self[NameKey.self] = newValue }
    }
}

private enum NameKey: RequestOptionKey { static var defaultValue: String? { nil } }
