public import APIProvider
public import Foundation

/// The way in which a request uses the cache. Its own `Cache-Control` counts as well (RFC 9111, section 5.2.1).
public struct CachePolicy: Sendable, Hashable {
    private enum Kind { case standard, reload, noStore, onlyIfCached, staleIfOffline }

    private let kind: Kind

    /// A fresh response is used. A stale one is validated.
    public static let standard = CachePolicy(kind: .standard)
    /// The request is sent, and its response is stored.
    public static let reload = CachePolicy(kind: .reload)
    /// Nothing is read from the cache, and nothing is stored.
    public static let noStore = CachePolicy(kind: .noStore)
    /// A stored response is used, fresh or stale, and nothing is sent. The status is 504 if there is none, or if the server forbids its use
    /// without a validation.
    public static let onlyIfCached = CachePolicy(kind: .onlyIfCached)
    /// As ``standard``, but if there is no connection, or the request fails with another temporary error, such as a timeout, a stale
    /// response is used unless the server forbids that.
    public static let staleIfOffline = CachePolicy(kind: .staleIfOffline)
}

extension RequestOptions {
    /// The way in which the request uses a ``CacheMiddleware``: `.option(\.cachePolicy, .staleIfOffline)`.
    public var cachePolicy: CachePolicy {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }
}

private enum PolicyKey: BuiltInOptionKey { static var defaultValue: CachePolicy { .standard } }

/// The numbers of hits, validations and misses of a ``CacheMiddleware``.
public struct CacheStatistics: Sendable {
    /// The number of responses that came from the cache. Either the cache did not wait for the server, or a stale response was used because
    /// its validation failed with a temporary error, such as no connection, or with a status 500, 502, 503 or 504.
    public internal(set) var hits = 0
    /// The number of ``hits`` that were stale.
    public internal(set) var staleHits = 0
    /// The number of requests that were sent to validate a stored response.
    public internal(set) var validations = 0
    /// The number of requests that were sent and did not validate a stored response.
    public internal(set) var misses = 0
}

extension APIResponse {
    /// The age of the response in seconds, from the `Age` header field. `nil` if no cache has set one.
    public var age: TimeInterval? { value(forHTTPHeaderField: "Age").flatMap { TimeInterval($0) } }
}
