/// Stores the responses of a ``CacheMiddleware``, as ``MemoryCache`` and ``DiskCache`` do. Write your own to store them elsewhere.
///
/// Methods are called on any thread, even on several at the same time. To look up a request, the cache calls ``responses(for:)`` on a
/// background queue. Only a ``MemoryCache`` is read on the subscriber's thread. A store may remove any response at any time, but must
/// return the others unchanged.
public protocol CacheStore: Sendable {
    /// Returns the responses of a key. They differ in ``CachedResponse/varyFields``. A key is a URL, with a suffix for requests without
    /// authentication or cookies.
    func responses(for key: String) -> [CachedResponse]
    /// Replaces all responses of a key. The last is the newest. An empty array removes the key.
    ///
    /// ``CacheMiddleware/removeAll()`` waits until this method returns, so do not call it here.
    func replace(_ responses: [CachedResponse], for key: String)
    /// Removes all responses.
    func removeAll()
}
