public import APIProvider
public import Foundation
public import MiniRx

/// Stores responses and uses them again, as a private HTTP cache does (RFC 9111 and RFC 5861).
///
/// ```swift
/// let cache = CacheMiddleware(DiskCache(folder, maxBytes: 50_000_000))
/// let provider = DefaultAPIProvider(
///     baseURL: api, middlewares: [cache, RetryMiddleware(), authentication])
///
/// provider.request(
///     Endpoint<Feed>(.get, "/feed").option(\.cachePolicy, .staleIfOffline))
/// ```
///
/// The server says how long a response is fresh. A fresh response is used without a request. A stale one is validated: requests at the same
/// time share one validation, and a 304 makes the response fresh again. Each redirect is stored under its own URL. A `HEAD` and a range are
/// answered from a whole response. A successful `POST`, `PUT`, `DELETE` or other unsafe request removes the responses for its URL.
/// Downloads, streams, GETs with a body and `no-store` responses are not cached. Of the variants that `Vary` tells apart, the last twenty
/// are stored.
///
/// Put the cache after middlewares that set headers which `Vary` may name, and before `RetryMiddleware` and `AuthenticationMiddleware`. It
/// also stores responses to authenticated requests: call ``removeAll()`` on sign-out. Requests with and without `\.isAuthenticated` do
/// not share responses.
///
/// A response from the cache has the headers `Age` and `Cache-Status`: see `APIResponse.isFromCache`.
public final class CacheMiddleware: Middleware {
    /// The name in `Cache-Status`.
    static let name = "ResponseCache"
    private static let maxVariants = 20

    private struct State {
        var statistics = CacheStatistics()
        var epoch = StoreEpoch()
        /// The number of `removeAll` calls that have not returned.
        var removals = 0
    }

    /// A request that the cache may answer.
    private struct Lookup {
        var request: PreparedRequest
        let keyState: KeyState
        let next: Next
        /// When the request is sent, if the cache does not answer it.
        var requestTime: Date
    }

    private let store: any CacheStore
    /// The scheduler on which a request looks up responses, so that a slow store does not block the subscriber. `nil` for a `MemoryCache`:
    /// the look-up is on the subscriber's thread.
    private let scheduler: (any Scheduler)?
    private let now: @Sendable () -> Date
    private let state = Locked(State())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: Where responses are stored.
    ///   - now: The clock.
    public convenience init(_ store: some CacheStore = MemoryCache(), now: @escaping @Sendable () -> Date = { Date() }) {
        self.init(store, scheduler: store is MemoryCache ? nil : ConcurrentDispatchQueueScheduler(qos: .userInitiated), now: now)
    }

    init(_ store: some CacheStore, scheduler: (any Scheduler)?, now: @escaping @Sendable () -> Date) {
        (self.store, self.scheduler, self.now) = (store, scheduler, now)
    }

    /// What the cache has done since it was created.
    public var statistics: CacheStatistics { state.withLock(\.statistics) }

    /// Removes all responses. Call it on sign-out: `authentication.credential = nil; cache.removeAll()`.
    ///
    /// It waits until responses that are being written are stored, and removes them too. A response that arrives later, to a request that
    /// started before the call, is not stored.
    public func removeAll() {
        let epoch = state.withLock { state in
            defer { (state.epoch, state.removals) = (StoreEpoch(), state.removals + 1) }
            return state.epoch
        }
        epoch.writes.wait()
        store.removeAll()
        state.withLock { $0.removals -= 1 }
    }

    /// Answers `request` from the cache, or sends it.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.isReceivedInMemory, request.options.cachePolicy != .noStore, request.isBodylessGetOrHead else {
            return bypass(request, next)
        }
        return .deferred { [self] in
            let epoch = epoch(of: request)
            return .followingRedirects(request) { [self] hop in
                var lookedUp = hop
                // The cache looks up each hop, so the transport must not follow redirects.
                lookedUp.returnsRedirects = true
                // The request's `redirectPolicy` (`.decide`) may have changed the method.
                guard hop.isBodylessGetOrHead else { return bypass(lookedUp, next) }
                return lookUp(lookedUp, epoch, next).map { $0.withRequestHeaders(of: hop) }
            }
        }
    }

    /// Returns the epoch in which the response to a request that starts now may be stored. During `removeAll`, or if the user has signed
    /// out since the request was subscribed to, this is a new epoch, which is never the current one, so the response is not stored.
    private func epoch(of request: PreparedRequest) -> StoreEpoch {
        request.isBeforeSignOut ? StoreEpoch() : state.withLock { $0.removals == 0 ? $0.epoch : StoreEpoch() }
    }

    private func lookUp(_ request: PreparedRequest, _ epoch: StoreEpoch, _ next: @escaping Next) -> Single<APIResponse> {
        let response = Single.deferred { [self] () -> Single<APIResponse> in
            let keyState = epoch.state(for: request.cacheKey)
            // After the end of the epoch, the stored responses may be another user's.
            let hasEnded = state.withLock { $0.epoch !== epoch }
            let ignoresStored = hasEnded || request.options.cachePolicy == .reload || request.hasServerConditions
            let stored = ignoresStored ? nil : newestMatch(request, keyState)
            let lookup = Lookup(request: request, keyState: keyState, next: next, requestTime: now())
            switch Decision(for: request, stored: stored, at: lookup.requestTime) {
            case .use(let stored): return use(stored, lookup)
            case .useAndValidate(let stored):
                validateInBackground(stored, lookup)
                return use(stored, lookup)
            case .validate(let stored): return validateOrUse(stored, lookup)
            case .send: return send(lookup)
            case .fail:
                let cacheStatus = "\(Self.name); fwd=\(stored == nil ? "uri-miss" : "stale"); detail=only-if-cached"
                return .just(APIResponse(to: request, status: 504, headers: ["Cache-Status": cacheStatus]))
            }
        }
        return scheduler.map { response.subscribe(on: $0) } ?? response
    }

    private func newestMatch(_ request: PreparedRequest, _ keyState: KeyState) -> CachedResponse? {
        store.responses(for: keyState.key).filter { $0.matchesVary(of: request) && $0.canServeRange(of: request) }
            .max { $0.responseTime < $1.responseTime }
    }

    private func use(_ stored: CachedResponse, _ lookup: Lookup, cacheStatus: String = "hit") -> Single<APIResponse> {
        let now = now()
        guard var response = stored.response(to: lookup.request, at: now, cacheStatus: cacheStatus) else { return send(lookup) }
        response.wasServedFromCache = true
        count {
            $0.hits += 1
            if stored.remainingFreshness(at: now) <= 0 { $0.staleHits += 1 }
        }
        return .just(response)
    }

    /// Validates a stale response for the next request, unless another validation in the background is running.
    private func validateInBackground(_ stored: CachedResponse, _ lookup: Lookup) {
        let keyState = lookup.keyState
        guard keyState.beginValidation() else { return }
        var lookup = lookup
        // The validation is for the whole response, even if the app asks for a range, because a part would not be stored.
        lookup.request.headers["Range"] = nil
        _ = validate(stored, lookup).do(onDispose: { keyState.endValidation() }).subscribe { _ in }
    }

    /// Validates a stored response before it is used. After an error, uses it if the server or the app allows that.
    private func validateOrUse(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let mayUseStaleOnError = stored.mayBeUsedStaleAfterError(for: lookup.request, at: now())
        let mayUseStaleOffline = lookup.request.options.cachePolicy == .staleIfOffline && stored.mayBeUsedStale
        guard mayUseStaleOnError || mayUseStaleOffline else { return validate(stored, lookup) }
        return validate(stored, lookup).flatMap { [self] response in
            guard mayUseStaleOnError, [500, 502, 503, 504].contains(response.statusCode) else { return .just(response) }
            return use(stored, lookup, cacheStatus: "fwd=stale; fwd-status=\(response.statusCode)")
        }.catch { [self] error in
            guard error.isTransient else { throw error }
            return use(stored, lookup, cacheStatus: "fwd=stale")
        }
    }

    /// Asks the server whether a stored response is still valid. Requests at the same time share the answer.
    private func validate(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let request = lookup.request
        guard stored.hasValidator, !request.asksIfModified, request.method != .head, request.range == nil else { return send(lookup) }
        return lookup.keyState.validationCoalescer.intercept(request.validating(stored)) { [self] conditional in
            count { $0.revalidations += 1 }
            return lookup.next(conditional).flatMap { [self] response in
                guard response.statusCode == 304, !response.isFromOtherURL else {
                    storeResponse(response, lookup)
                    return .just(response)
                }
                // If the 304 is about a response that the cache does not have, the request is sent again without conditions (RFC 9111,
                // section 4.3.4).
                guard !stored.hasDifferentETag(from: response) else {
                    var lookup = lookup
                    lookup.requestTime = now()
                    return send(lookup)
                }
                let updated = stored.updated(by: response, requestTime: lookup.requestTime, responseTime: now())
                replaceStored(with: updated, lookup, sent: response.request)
                let cacheStatus = "fwd=stale; fwd-status=304; stored"
                return .just(updated.response(to: request, at: now(), cacheStatus: cacheStatus) ?? response)
            }
        }
    }

    private func send(_ lookup: Lookup) -> Single<APIResponse> {
        count { $0.misses += 1 }
        return lookup.next(lookup.request).do(onSuccess: { [self] in storeResponse($0, lookup) })
    }

    private func storeResponse(_ response: APIResponse, _ lookup: Lookup) {
        let (request, status) = (lookup.request, response.statusCode)
        guard request.range == nil, !request.hasServerConditions, !response.isFromOtherURL else { return }
        if status == 304 || request.method == .head {
            // A 304 to the app's own condition and a HEAD only update what is stored (RFC 9111, section 4.3.5).
            guard let stored = newestMatch(request, lookup.keyState) else { return }
            if stored.canBeUpdated(by: response) {
                let updated = stored.updated(by: response, requestTime: lookup.requestTime, responseTime: now())
                replaceStored(with: updated, lookup, sent: response.request)
            } else if status == stored.status {
                replaceStored(with: nil, lookup, sent: response.request)
            }
        } else {
            // A failure or refusal does not replace a stored response that is neither.
            if status.isFailureOrRefusal, let stored = newestMatch(request, lookup.keyState), !stored.status.isFailureOrRefusal { return }
            let new = CachedResponse(response, requestTime: lookup.requestTime, responseTime: now())
            replaceStored(with: new, lookup, sent: response.request)
        }
    }

    /// Replaces the stored responses that match the request. If `new` is `nil` or must not be stored, it only removes them.
    private func replaceStored(with new: CachedResponse?, _ lookup: Lookup, sent: PreparedRequest) {
        let epoch = lookup.keyState.epoch
        guard !lookup.request.cacheControl.has("no-store"), beginWriting(epoch) else { return }
        lookup.keyState.serialize { [self] in
            write(new, lookup, sent: sent)
            epoch.writes.leave()
        }
    }

    private func write(_ new: CachedResponse?, _ lookup: Lookup, sent: PreparedRequest) {
        let (request, keyState, requestTime) = (lookup.request, lookup.keyState, lookup.requestTime)
        guard !keyState.isInvalidated else { return }
        let (old, now) = (store.responses(for: keyState.key), now())
        // Do not replace the response to a later request. A request time in the future is an error of the clock, and does not count.
        guard !old.contains(where: { $0.matchesVary(of: request) && $0.requestTime > requestTime && $0.requestTime <= now }) else { return }
        let others = old.filter { !$0.matchesVary(of: request) }.suffix(Self.maxVariants - 1)
        let all = others + [new?.storable(for: request, sent: sent)].compactMap { $0 }
        if !all.isEmpty || !old.isEmpty { store.replace(Array(all), for: keyState.key) }
        // An unsafe request may have changed the resource while the store was written.
        if keyState.isInvalidated { store.replace([], for: keyState.key) }
    }

    /// Makes `removeAll` wait until the caller calls `epoch.writes.leave()`. Returns false if the epoch is not the current one.
    private func beginWriting(_ epoch: StoreEpoch) -> Bool {
        state.withLock { state in
            guard state.epoch === epoch else { return false }
            epoch.writes.enter()
            return true
        }
    }

    /// Sends a request without looking in the cache. A successful unsafe request invalidates the responses for its URL.
    private func bypass(_ request: PreparedRequest, _ next: @escaping Next) -> Single<APIResponse> {
        guard ![.get, .head, .options, .trace].contains(request.method) else { return next(request) }
        return .deferred { [self] in
            let (epoch, requestTime) = (epoch(of: request), now())
            return next(request).do(onSuccess: { [self] response in
                guard 200..<400 ~= response.statusCode else { return }
                invalidate(request, response)
                let keyState = epoch.state(for: request.cacheKey)
                storePOST(response, Lookup(request: request, keyState: keyState, next: next, requestTime: requestTime))
            })
        }
    }

    /// Removes the responses that a successful unsafe request may have changed (RFC 9111, section 4.4).
    private func invalidate(_ request: PreparedRequest, _ response: APIResponse) {
        let targets = ["Location", "Content-Location"].compactMap { response.target(of: $0, from: request) }
        for key in Set(([request.url, response.request.url] + targets).flatMap(\.cacheKeys)) {
            state.withLock(\.epoch).invalidate(key)
            store.replace([], for: key)
        }
    }

    /// Stores a response to a POST whose `Content-Location` says that a GET would return it (RFC 9110, section 9.3.3).
    private func storePOST(_ response: APIResponse, _ lookup: Lookup) {
        let (request, options) = (lookup.request, lookup.request.options)
        guard request.method == .post, request.isReceivedInMemory, options.cachePolicy != .noStore,
            response.request.url.withoutFragment == request.url.withoutFragment,
            response.target(of: "Content-Location", from: request)?.withoutFragment == request.url.withoutFragment
        else { return }
        let new = CachedResponse(response, requestTime: lookup.requestTime, responseTime: now())
        if new.remainingFreshness(at: now()) > 0 { replaceStored(with: new, lookup, sent: response.request) }
    }

    private func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }
}
