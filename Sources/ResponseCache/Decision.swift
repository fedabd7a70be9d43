import APIProvider
import Foundation

/// What the cache does with a request (RFC 9111, section 4).
enum Decision {
    /// The stored response is used.
    case use(CachedResponse)
    /// The stored response is used stale, and validated for the next request (RFC 5861, section 3).
    case useAndValidate(CachedResponse)
    /// The stored response must be validated before it is used.
    case validate(CachedResponse)
    /// No stored response matches.
    case send
    /// The request must not be sent, and no stored response may be used.
    case fail

    init(for request: PreparedRequest, stored: CachedResponse?, at now: Date) {
        let (control, policy) = (request.cacheControl, request.options.cachePolicy)
        let isOnlyIfCached = policy == .onlyIfCached || control.has("only-if-cached")
        guard let stored else {
            self = isOnlyIfCached ? .fail : .send
            return
        }
        let (age, remaining) = (stored.age(at: now), stored.remainingFreshness(at: now))
        let isTooOld =
            control.seconds("max-age").map { age > $0 } ?? false || control.seconds("min-fresh").map { remaining < $0 } ?? false
        let isNoCache =
            control.has("no-cache") || stored.freshness.requiresValidation
            || !control.has("max-age") && request.headers["Pragma"]?.lowercased().contains("no-cache") == true
        let mustValidate = isTooOld || isNoCache
        let allowsStale = !mustValidate && stored.allowsStale
        if remaining > 0, !mustValidate {
            self = .use(stored)
        } else if allowsStale, let limit = control.seconds("max-stale", ifNoArgument: .infinity), -remaining <= limit {
            self = .use(stored)
        } else if isOnlyIfCached {
            self = policy == .onlyIfCached && stored.allowsStale ? .use(stored) : .fail
        } else if allowsStale, let window = stored.freshness.staleWhileRevalidate, -remaining <= window {
            self = .useAndValidate(stored)
        } else {
            self = .validate(stored)
        }
    }
}
