/// Stores a cache's responses.
///
/// Methods are called on any thread, even on several at the same time. A store may remove responses at any time, but must return the others
/// unchanged.
protocol CacheStore: Sendable {
    /// Returns a key's responses, the newest last. They differ in ``CachedResponse/varyValues``.
    func responses(for key: String) -> [CachedResponse]
    /// Replaces all of a key's responses. An empty array removes the key.
    func replace(_ responses: [CachedResponse], for key: String)
    /// Removes all responses.
    func removeAll()
}
