public import MiniRx

/// Keeps the responses of a ``CacheMiddleware``. ``MemoryCache`` and ``DiskCache`` are two; write your own to keep them elsewhere.
///
/// It is called on any thread, by several at a time. A store may forget any response, and must return the others unchanged.
public protocol CacheStore: Sendable {
    /// Where responses are read. `nil` is the subscriber's thread, for a store that never waits.
    var scheduler: (any Scheduler)? { get }
    /// Returns the responses of a key: those that `Vary` keeps apart. A key is a URL, and something behind it for requests without
    /// authentication or cookies.
    func responses(for key: String) -> [CachedResponse]
    /// Replaces all responses of a key. With none, the key is forgotten. The last is the newest.
    func replace(_ responses: [CachedResponse], for key: String)
    /// Forgets all. A ``CacheMiddleware`` waits for its `replace` before it calls this, so do not call its `removeAll` from `replace`.
    func removeAll()
}

extension CacheStore {
    /// The subscriber's thread.
    public var scheduler: (any Scheduler)? { nil }
}
