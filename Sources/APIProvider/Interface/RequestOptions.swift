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
    @usableFromInline struct Entry: Sendable, CustomReflectable {
        @usableFromInline let key: ObjectIdentifier
        @usableFromInline let value: any Sendable
        let isBuiltIn: Bool

        /// A mirror without the value, which may be a secret.
        @usableFromInline var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// In the order in which they were set. A request has few options, so a search takes less time than a hash.
    @usableFromInline var entries: [Entry] = []

    package init() {}

    /// The value for `key`, or the key's default.
    @inlinable public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get {
            // Inlined, so that the type of the value is known where it is read. A generic call of another module takes ten times as long.
            for entry in entries where entry.key == ObjectIdentifier(key) {
                return entry.value as? Key.Value ?? Key.defaultValue
            }
            return Key.defaultValue
        }
        set { set(newValue, for: key) }
    }

    @usableFromInline mutating func set(_ value: any Sendable, for key: any RequestOptionKey.Type) {
        set(Entry(key: ObjectIdentifier(key), value: value, isBuiltIn: key is any BuiltInOptionKey.Type))
    }

    private mutating func set(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.key == entry.key }) { return entries[index] = entry }
        if entries.isEmpty { entries.reserveCapacity(4) }
        entries.append(entry)
    }

    /// Sets nothing for `key` any more.
    mutating func remove(_ key: any RequestOptionKey.Type) { entries.removeAll { $0.key == ObjectIdentifier(key) } }

    /// Sets what `other` sets.
    mutating func merge(_ other: RequestOptions) {
        for entry in other.entries { set(entry) }
    }

    /// Whether all of them are options of this package.
    var areBuiltIn: Bool { entries.allSatisfy(\.isBuiltIn) }
}

/// The key of an option, and its default.
public protocol RequestOptionKey {
    /// The type of the option.
    associatedtype Value: Sendable
    /// The value for requests that do not set the option.
    static var defaultValue: Value { get }
}

/// The key of an option of this package.
package protocol BuiltInOptionKey: RequestOptionKey {}

extension RequestOptions {
    /// The name of the request in logs and metrics, such as `user(login:)`. Without a name, they show its URL.
    public var name: String? {
        get { self[NameKey.self] }
        set { self[NameKey.self] = newValue }
    }
}

private enum NameKey: BuiltInOptionKey { static var defaultValue: String? { nil } }
