import APIProvider
import Foundation

/// The cache's decision about a request (RFC 9111, section 4).
enum Decision {
    /// The stored response is used.
    case use(CachedResponse)
    /// The stored response is used stale, and validated for the next request (RFC 5861, section 3).
    case useAndValidate(CachedResponse)
    /// The stored response must be validated before use.
    case validate(CachedResponse)
    /// No stored response matches.
    case send
    /// The request must not be sent, and no stored response may be used.
    case fail

    init(for request: PreparedRequest, stored: CachedResponse?, at now: Date) {
        let (control, policy) = (request.cacheControl, request.options.cachePolicy)
        let forbidsSending = policy == .onlyIfCached || control.contains("only-if-cached")
        guard let stored else {
            self = forbidsSending ? .fail : .send
            return
        }
        let (age, remaining) = (stored.age(at: now), stored.remainingFreshness(at: now))
        let isTooOld =
            control.seconds("max-age").map { age > $0 } ?? false || control.seconds("min-fresh").map { remaining < $0 } ?? false
        // `Pragma: no-cache` is the old form of `Cache-Control: no-cache` (RFC 9111, section 5.4). The more exact `max-age` overrides
        // `Pragma`.
        let mustValidate =
            control.contains("no-cache") || stored.freshness.requiresValidation
            || !control.contains("max-age") && request.headers["Pragma"]?.lowercased().contains("no-cache") == true
        let mayUseUnvalidated = !isTooOld && !mustValidate
        let mayUseStale = mayUseUnvalidated && stored.mayBeUsedStale
        if remaining > 0, mayUseUnvalidated {
            self = .use(stored)
        } else if mayUseStale, let limit = control.seconds("max-stale", ifNoArgument: .infinity), -remaining <= limit {
            self = .use(stored)
        } else if forbidsSending {
            // The app prefers this response to none, against the request's own fields. The server may forbid that.
            let isAllowed = stored.mayBeUsedStale || remaining > 0 && !stored.freshness.requiresValidation
            self = policy == .onlyIfCached && isAllowed ? .use(stored) : .fail
        } else if mayUseStale, let window = stored.freshness.staleWhileRevalidate, -remaining <= window {
            self = .useAndValidate(stored)
        } else {
            self = .validate(stored)
        }
    }
}
