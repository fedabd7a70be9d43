import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is done with a request, by what is stored (RFC 9111, section 4).
enum Decision {
    /// The stored response is fresh.
    case use(CachedResponse)
    /// It is stale. It is used now, and validated for the next time (RFC 5861, section 3).
    case useAndValidate(CachedResponse)
    /// It is stale, and the server is asked.
    case validate(CachedResponse)
    /// Nothing of use is stored.
    case send
    /// Nothing of use is stored, and nothing may be sent.
    case fail

    init(_ stored: CachedResponse?, for request: PreparedRequest, _ policy: CachePolicy, at now: Date) {
        let asked = request.cacheControl
        guard let stored else {
            self = policy == .onlyIfCached || asked.has("only-if-cached") ? .fail : .send
            return
        }
        let (age, fresh) = (stored.age(at: now), stored.freshFor(at: now))
        let isTooOld = asked.seconds("max-age").map { age > $0 } ?? false || asked.seconds("min-fresh").map { fresh < $0 } ?? false
        let asksServer =
            asked.has("no-cache") || stored.freshness.mustAlwaysValidate
            || !asked.has("max-age") && request.headers["Pragma"]?.lowercased().contains("no-cache") == true
        let mustAsk = isTooOld || asksServer
        let mayBeStale = !mustAsk && stored.mayBeStale
        if fresh > 0, !mustAsk {
            self = .use(stored)
        } else if policy == .onlyIfCached || asked.has("only-if-cached") {
            self = policy == .onlyIfCached && stored.mayBeStale ? .use(stored) : .fail
        } else if mayBeStale, let staleness = asked.seconds("max-stale", without: .infinity), -fresh <= staleness {
            self = .use(stored)
        } else if mayBeStale, let window = stored.freshness.whileRevalidating, -fresh <= window {
            self = .useAndValidate(stored)
        } else {
            self = .validate(stored)
        }
    }
}
