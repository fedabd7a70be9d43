package import Foundation

/// Options of one request that middlewares read.
///
/// Declare your own option as you declare a value in SwiftUI's environment, with a key that has a default and with a property:
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
/// An option that no middleware reads does nothing. In a target that is isolated to the main actor, write `nonisolated private enum` and
/// `nonisolated extension`.
public struct RequestOptions: Sendable {
    @Secret private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates options with their defaults.
    public init() {}

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

extension RequestOptions {
    /// Whether a `GET` or `HEAD` may have a body, for servers that want one. It has no meaning by RFC 9110, section 9.3.1, and caches and
    /// proxies may drop it.
    ///
    /// `URLSession` sends no such request, so ``URLSessionTransport`` fails with an error that says so. Use a transport that does, such as the
    /// package's AsyncHTTPClientTransport.
    public var allowsBody: Bool {
        get { self[BodyKey.self] }
        set { self[BodyKey.self] = newValue }
    }

    /// The provider's base URL.
    package var baseURL: URL? {
        get { self[BaseURLKey.self] }
        set { self[BaseURLKey.self] = newValue }
    }
}

private enum BodyKey: RequestOptionKey { static var defaultValue: Bool { false } }
private enum BaseURLKey: RequestOptionKey { static var defaultValue: URL? { nil } }
private enum NameKey: RequestOptionKey { static var defaultValue: String? { nil } }
