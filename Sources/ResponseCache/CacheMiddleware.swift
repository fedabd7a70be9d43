public import APIProvider
public import Foundation
public import MiniRx

/// Keeps responses and answers with them, as a private HTTP cache does (RFC 9111 and RFC 5861).
///
/// ```swift
/// let cache = CacheMiddleware(DiskCache(folder, maxBytes: 50_000_000))
/// let provider = DefaultAPIProvider(
///     baseURL: api, middlewares: [cache, RetryMiddleware(), authentication])
///
/// provider.request(Endpoint<Feed>(.get, "/feed").option(\.cachePolicy, .staleIfOffline))
/// ```
///
/// The server says how long a response is fresh, by `Cache-Control`, `Expires` or `Last-Modified`. Until then, the cache answers. After that,
/// it asks the server with `If-None-Match` or `If-Modified-Since`, once for all that want it, and a 304 makes the response fresh again. Each
/// hop of a redirect is a response of its own. `POST`, `PUT`, `DELETE` and others remove what is stored for their URL when they succeed. A
/// `HEAD` and a range are answered by a whole response. A GET that is a download or a stream, or has a body, passes by, and so does what the
/// server marks with `no-store`. Of the responses that `Vary` tells apart, the last twenty are kept.
///
/// Put it behind middlewares that set headers which `Vary` may name, and before `RetryMiddleware` and `AuthenticationMiddleware`. A private
/// cache also keeps responses to requests with a credential: call ``removeAll()`` at the sign-out. A response to a request that was sent before
/// is not stored after that. Requests with and without `\.isAuthenticated` do not share responses.
///
/// A response from the cache has the headers `Age` and `Cache-Status`: see `APIResponse.isFromCache`.
public final class CacheMiddleware: Middleware {
    /// The name in `Cache-Status`.
    static let name = "ResponseCache"
    /// How many responses to the requests for one URL are kept, which `Vary` tells apart.
    private static let variants = 20

    private struct State {
        var statistics = CacheStatistics()
        var epoch = Epoch()
        /// How many calls of `removeAll` have not returned.
        var removals = 0
    }

    /// What one request asks of the cache.
    private struct Lookup {
        let request: PreparedRequest
        let key: String
        let epoch: Epoch
        let next: Next
    }

    /// A request that a lookup has sent.
    private struct Exchange {
        let lookup: Lookup
        let flight: Flight
        let requested: Date
    }

    private let store: any CacheStore
    private let now: @Sendable () -> Date
    private let state = Locked(State())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: Where responses are kept.
    ///   - now: The clock.
    public init(_ store: some CacheStore = MemoryCache(), now: @escaping @Sendable () -> Date = { Date() }) {
        (self.store, self.now) = (store, now)
    }

    /// What the cache has done since it was created.
    public var statistics: CacheStatistics { state.withLock(\.statistics) }

    /// Forgets all responses. Call it at the sign-out: `authentication.credential = nil; cache.removeAll()`.
    ///
    /// It waits for responses that are being stored. When it returns, nothing of before is left.
    public func removeAll() {
        let epoch = state.withLock { state in
            defer { (state.epoch, state.removals) = (Epoch(), state.removals + 1) }
            return state.epoch
        }
        epoch.writes.wait()
        store.removeAll()
        state.withLock { $0.removals -= 1 }
    }

    /// What a request that begins now belongs to. While all is removed, it is an epoch that is over.
    private var epoch: Epoch { state.withLock { $0.removals == 0 ? $0.epoch : Epoch() } }

    /// The same for a request that may have waited in front of the cache. If a user has signed out meanwhile, its epoch is over.
    private func epoch(for request: PreparedRequest) -> Epoch { request.isBeforeSignOut ? Epoch() : epoch }

    /// Returns the response from the cache, or the one to `request`.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.isReceivedInMemory, request.options.cachePolicy != .noStore, request.isPlainGET else { return forward(request, next) }
        return .deferred { [self] in
            let epoch = epoch(for: request)
            return .followingRedirects(request) { [self] asked in
                // This closure gets each hop, so what it sends must not follow redirects. A `.decide` closure may change the method.
                var request = asked
                request.returnsRedirects = true
                guard request.isPlainGET else { return forward(request, next) }
                return lookUp(request, epoch, next).map { $0.withHeaders(of: asked) }
            }
        }
    }

    /// Sends a request that the cache does not answer, and removes what it may have changed.
    private func forward(_ request: PreparedRequest, _ next: @escaping Next) -> Single<APIResponse> {
        guard ![.get, .head, .options, .trace].contains(request.method) else { return next(request) }
        return .deferred { [self] in
            let (lookup, requested) = (lookup(request, epoch(for: request), next), now())
            return next(request).do(onSuccess: { [self] in invalidate($0, lookup, requested: requested) })
        }
    }

    private func lookup(_ request: PreparedRequest, _ epoch: Epoch, _ next: @escaping Next) -> Lookup {
        let kind = URL.cacheKind(isAuthenticated: request.options.isAuthenticated, hasCookies: request.handlesCookies)
        return Lookup(request: request, key: request.url.cacheKey + kind, epoch: epoch, next: next)
    }

    private func lookUp(_ request: PreparedRequest, _ epoch: Epoch, _ next: @escaping Next) -> Single<APIResponse> {
        let policy = request.options.cachePolicy
        let answer = Single.deferred { [self] () -> Single<APIResponse> in
            let lookup = lookup(request, epoch, next)
            // What is stored now may be another user's.
            let isOutdated = state.withLock { $0.epoch !== epoch }
            let readsNothing = isOutdated || policy == .reload || request.hasOtherConditions
            let stored = readsNothing ? nil : newestMatch(lookup)
            switch Decision(stored, for: request, policy, at: now()) {
            case .use(let stored): return use(stored, lookup)
            case .useAndValidate(let stored):
                validateLater(stored, lookup)
                return use(stored, lookup)
            case .validate(let stored): return validateOrUse(stored, lookup)
            case .send: return send(lookup)
            case .fail:
                let status = "\(Self.name); fwd=\(stored == nil ? "uri-miss" : "stale"); detail=only-if-cached"
                return .just(APIResponse(to: request, status: 504, headers: ["Cache-Status": status]))
            }
        }
        return store.scheduler.map { answer.subscribe(on: $0) } ?? answer
    }

    private func newestMatch(_ lookup: Lookup) -> CachedResponse? {
        store.responses(for: lookup.key).filter { $0.matches(lookup.request) && $0.answers(lookup.request) }
            .max { $0.received < $1.received }
    }

    private func use(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let now = now()
        guard let response = stored.response(to: lookup.request, at: now) else { return send(lookup) }
        count {
            $0.hits += 1
            if stored.freshFor(at: now) <= 0 { $0.staleHits += 1 }
        }
        return .just(response)
    }

    /// Sends the request, and stores its response.
    private func send(_ lookup: Lookup) -> Single<APIResponse> {
        count { $0.misses += 1 }
        let exchange = exchange(lookup)
        return lookup.next(lookup.request).map { [self] response in
            keep(response, exchange)
            return response
        }
    }

    private func exchange(_ lookup: Lookup) -> Exchange {
        Exchange(lookup: lookup, flight: lookup.epoch.flight(lookup.key), requested: now())
    }

    /// Asks the server whether the stored response still is right. All that ask at once share the answer.
    private func validate(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        guard stored.hasValidator, !lookup.request.isConditional, lookup.request.method != .head, lookup.request.range == nil
        else { return send(lookup) }
        let exchange = exchange(lookup)
        return exchange.flight.validations.intercept(lookup.request.validating(stored)) { [self] conditional in
            count { $0.revalidations += 1 }
            return lookup.next(conditional).flatMap { [self] response in
                guard response.statusCode == 304, response.isOfItsURL else {
                    keep(response, exchange)
                    return .just(response)
                }
                // The server has no such response: it cannot be asked for any better (RFC 9111, section 4.3.4).
                guard !stored.isOther(than: response) else { return send(lookup) }
                let updated = stored.updated(by: response, requested: exchange.requested, received: now())
                replace(exchange, with: updated, sent: response.request)
                let detail = "\(Self.name); fwd=stale; fwd-status=304; stored"
                return .just(updated.response(to: lookup.request, at: now(), status: detail) ?? response)
            }
        }
    }

    /// The answer of the server or, after an error, the stored response where that is allowed.
    private func validateOrUse(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let isForErrors = stored.staleIfError(for: lookup.request, at: now())
        let isForOffline = lookup.request.options.cachePolicy == .staleIfOffline && stored.mayBeStale
        guard isForErrors || isForOffline else { return validate(stored, lookup) }
        return validate(stored, lookup).flatMap { [self] response in
            isForErrors && [500, 502, 503, 504].contains(response.statusCode) ? use(stored, lookup) : .just(response)
        }.catch { [self] error in
            guard error.isTransient else { throw error }
            return use(stored, lookup)
        }
    }

    /// Validates while the app has the stale response, unless that is done already.
    private func validateLater(_ stored: CachedResponse, _ lookup: Lookup) {
        let flight = lookup.epoch.flight(lookup.key)
        guard flight.beginValidation() else { return }
        _ = validate(stored, lookup).do(onDispose: { flight.endValidation() }).subscribe { _ in }
    }

    /// Stores what may be stored.
    private func keep(_ response: APIResponse, _ exchange: Exchange) {
        let (request, status) = (exchange.lookup.request, response.statusCode)
        // A transport that follows redirects by itself has the response of another URL.
        guard request.range == nil, !request.hasOtherConditions, response.isOfItsURL else { return }
        guard status != 304, request.method != .head else {
            // A 304 to the app's own condition, or the head of what is stored (RFC 9111, section 4.3.5).
            guard let stored = newestMatch(exchange.lookup) else { return }
            if stored.isSame(as: response) {
                let updated = stored.updated(by: response, requested: exchange.requested, received: now())
                replace(exchange, with: updated, sent: response.request)
            } else if status == stored.status {
                replace(exchange, with: nil, sent: response.request)
            }
            return
        }
        // An error of the server and a refusal say nothing about what is stored.
        if status.isRefusal, let stored = newestMatch(exchange.lookup), !stored.status.isRefusal { return }
        let new = CachedResponse(response, requested: exchange.requested, received: now())
        replace(exchange, with: new, sent: response.request)
    }

    /// Stores `new` in the place of what the request would get. If `new` is nil or may not be stored, the old one is removed: it is not right
    /// any more.
    private func replace(_ exchange: Exchange, with new: CachedResponse?, sent: PreparedRequest) {
        let (request, key) = (exchange.lookup.request, exchange.lookup.key)
        guard !request.cacheControl.has("no-store"), !exchange.flight.isOutdated, beginWriting(exchange.lookup.epoch) else { return }
        defer { exchange.lookup.epoch.writes.leave() }
        let (old, now) = (store.responses(for: key), now())
        // What was asked for later is newer, unless a clock that was ahead says so.
        guard !old.contains(where: { $0.matches(request) && $0.requested > exchange.requested && $0.requested <= now }) else { return }
        let kept = new?.stored(for: request, sent: sent)
        let all = old.filter { !$0.matches(request) }.suffix(Self.variants - 1) + [kept].compactMap { $0 }
        if !all.isEmpty || !old.isEmpty { store.replace(Array(all), for: key) }
        // A change may have come while this was written.
        if exchange.flight.isOutdated { store.replace([], for: key) }
    }

    /// Lets `removeAll` wait, unless it is too late for that.
    private func beginWriting(_ epoch: Epoch) -> Bool {
        state.withLock { state in
            guard state.epoch === epoch else { return false }
            epoch.writes.enter()
            return true
        }
    }

    /// Removes what an unsafe method may have changed (RFC 9111, section 4.4), unless its response is what a GET would get.
    private func invalidate(_ response: APIResponse, _ lookup: Lookup, requested: Date) {
        guard 200..<400 ~= response.statusCode else { return }
        let (url, answering) = (lookup.request.url, response.request.url)
        // Another origin, to which the request was redirected, says nothing about this one.
        let others = ["Location", "Content-Location"].compactMap { response.value(forHTTPHeaderField: $0) }
            .compactMap { URL(reference: $0, from: answering) }
            .filter { $0.origin == url.origin && $0.origin == answering.origin }
        for key in Set(([url, answering] + others).map(\.cacheKey)).flatMap({ key in URL.cacheKinds.map { key + $0 } }) {
            epoch.endFlight(key)
            store.replace([], for: key)
        }
        // RFC 9110, section 9.3.3.
        let new = CachedResponse(response, requested: requested, received: now())
        guard lookup.request.method == .post, lookup.request.isReceivedInMemory, lookup.request.options.cachePolicy != .noStore,
            response.value(forHTTPHeaderField: "Content-Location") != nil, others.contains(where: { $0.cacheKey == url.cacheKey }),
            answering.cacheKey == url.cacheKey, new.freshFor(at: now()) > 0
        else { return }
        let exchange = Exchange(lookup: lookup, flight: lookup.epoch.flight(lookup.key), requested: requested)
        replace(exchange, with: new, sent: response.request)
    }

    private func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }
}
