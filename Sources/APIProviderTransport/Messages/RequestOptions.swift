/// Options of one request, for middlewares and transports.
///
/// ### Your own option
///
/// Declare an option like a SwiftUI environment value, with a key, a default and a property:
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
/// An unread option does nothing. In a target isolated to the main actor, write `nonisolated private enum` and `nonisolated extension`.
public struct RequestOptions: Sendable {
    @usableFromInline struct Entry: Sendable, CustomReflectable {
        @usableFromInline let key: ObjectIdentifier
        @usableFromInline let value: any Sendable
        @usableFromInline let isBuiltIn: Bool

        @usableFromInline init(key: ObjectIdentifier, value: any Sendable, isBuiltIn: Bool) {
            (self.key, self.value, self.isBuiltIn) = (key, value, isBuiltIn)
        }

        /// A mirror without the value: it may be a secret.
        @usableFromInline var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// In the order of setting. With few options, a search takes less time than a hash.
    @usableFromInline var entries: [Entry] = []

    /// Creates empty options.
    public init() {}

    /// The value for `key`, or the key's default.
    @inlinable public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get {
            // Inlined, so that the caller knows the value's type. A generic call into another module takes ten times as long.
            let id = ObjectIdentifier(key)
            for index in entries.indices where entries[index].key == id {
                return entries[index].value as? Key.Value ?? Key.defaultValue
            }
            return Key.defaultValue
        }
        set { set(Entry(key: ObjectIdentifier(key), value: newValue, isBuiltIn: key is any BuiltInOptionKey.Type)) }
    }

    @usableFromInline mutating func set(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.key == entry.key }) { return entries[index] = entry }
        if entries.isEmpty { entries.reserveCapacity(4) }
        entries.append(entry)
    }

    /// Removes the value for `key`.
    package mutating func remove(_ key: any RequestOptionKey.Type) { entries.removeAll { $0.key == ObjectIdentifier(key) } }

    /// Sets the options in `other`.
    mutating func merge(_ other: RequestOptions) {
        for entry in other.entries { set(entry) }
    }

    /// Whether all options are this package's.
    package var areBuiltIn: Bool { entries.allSatisfy(\.isBuiltIn) }
}

/// An option's key and default.
public protocol RequestOptionKey {
    /// The option's type.
    associatedtype Value: Sendable
    /// The value for requests without the option.
    static var defaultValue: Value { get }
}

/// The key of this package's options.
@usableFromInline package protocol BuiltInOptionKey: RequestOptionKey {}

extension RequestOptions {
    /// The maximum size of a stream's line or event in bytes, by default 16 MB. A larger one ends the stream with an error. The whole
    /// stream's size is not limited.
    public var maxElementSize: Int {
        get { self[MaxElementSizeKey.self] }
        set { self[MaxElementSizeKey.self] = newValue }
    }
}

private enum MaxElementSizeKey: BuiltInOptionKey { static var defaultValue: Int { 16_777_216 } }
