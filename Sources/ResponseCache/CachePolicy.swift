public import APIProvider
public import Foundation

/// How a request uses the cache. Its own `Cache-Control` counts as well (RFC 9111, section 5.2.1).
public enum CachePolicy: Sendable, Hashable {
    /// A fresh response is used, and a stale one is validated.
    case standard
    /// The server is asked, and what it answers is stored.
    case reload
    /// Nothing is read from the cache, and nothing is stored.
    case noStore
    /// What is stored is used, fresh or stale, and nothing is sent. If nothing is stored, or stale use is forbidden, the response has the
    /// status 504.
    case onlyIfCached
    /// As `standard`. If no connection can be made, a stale response is used, unless its server forbids that.
    case staleIfOffline
}

extension RequestOptions {
    /// How the request uses the cache of a ``CacheMiddleware``: `.option(\.cachePolicy, .staleIfOffline)`.
    public var cachePolicy: CachePolicy {
        get { self[CachingKey.self] }
        set { self[CachingKey.self] = newValue }
    }
}

private enum CachingKey: RequestOptionKey { static var defaultValue: CachePolicy { .standard } }

/// What a ``CacheMiddleware`` has done.
public struct CacheStatistics: Sendable, Hashable {
    /// Responses that came from the cache, without a request.
    public var hits = 0
    /// Of these, responses that were stale.
    public var staleHits = 0
    /// Requests that asked the server whether a stored response still is right.
    public var revalidations = 0
    /// Requests for which nothing of use was stored.
    public var misses = 0

    /// Creates statistics.
    public init(hits: Int = 0, staleHits: Int = 0, revalidations: Int = 0, misses: Int = 0) {
        (self.hits, self.staleHits, self.revalidations, self.misses) = (hits, staleHits, revalidations, misses)
    }
}

extension APIResponse {
    /// Whether the response came from a ``CacheMiddleware``, without a request (`hit` in `Cache-Status`, RFC 9211).
    public var isFromCache: Bool { isFromStore }

    /// How many seconds ago the server has made or validated the response, if a cache says so.
    public var age: TimeInterval? { value(forHTTPHeaderField: "Age").flatMap { TimeInterval($0) } }
}
