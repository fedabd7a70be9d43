public import APIProvider
public import Foundation

/// A request's use of the cache. The request's own `Cache-Control` counts, too (RFC 9111, section 5.2.1).
public struct CachePolicy: Sendable, Hashable {
    private enum Kind { case standard, reload, noStore, onlyIfCached, staleIfOffline }

    private let kind: Kind

    /// A fresh response is used. A stale one is validated.
    public static let standard = CachePolicy(kind: .standard)
    /// The request is sent, and the response is stored.
    public static let reload = CachePolicy(kind: .reload)
    /// Nothing is read from the cache, and nothing is stored.
    public static let noStore = CachePolicy(kind: .noStore)
    /// A stored response is used, fresh or stale, and nothing is sent. Without a usable response, the status is 504.
    public static let onlyIfCached = CachePolicy(kind: .onlyIfCached)
    /// Like ``standard``, but without a connection, or after another temporary error such as a timeout, a stale response is used unless the
    /// server forbids that.
    public static let staleIfOffline = CachePolicy(kind: .staleIfOffline)
}

extension RequestOptions {
    /// The request's use of a ``CacheMiddleware``: `.option(\.cachePolicy, .staleIfOffline)`.
    public var cachePolicy: CachePolicy {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }
}

private enum PolicyKey: BuiltInOptionKey { static var defaultValue: CachePolicy { .standard } }

/// The numbers of hits, validations and misses of a ``CacheMiddleware``.
public struct CacheStatistics: Sendable {
    /// The number of responses from the cache. Includes stale responses served after a failed validation.
    public internal(set) var hits = 0
    /// The number of stale ``hits``.
    public internal(set) var staleHits = 0
    /// The number of requests sent to validate a stored response.
    public internal(set) var validations = 0
    /// The number of other requests sent.
    public internal(set) var misses = 0
}

extension APIResponse {
    /// The response's age in whole seconds, from the `Age` header field (RFC 9111, section 5.1); `nil` without one.
    public var age: TimeInterval? { value(forHTTPHeaderField: "Age")?.deltaSeconds }
}
