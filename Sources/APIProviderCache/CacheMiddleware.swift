public import APIProvider
public import Foundation
public import MiniRx

/// A private HTTP cache (RFC 9111 and RFC 5861).
///
/// ```swift
/// let cache = CacheMiddleware(.disk(folder, maxBytes: 50_000_000))
/// let provider = DefaultAPIProvider(
///     baseURL: api, middlewares: [cache, RetryMiddleware(), authentication])
///
/// provider.request(
///     Endpoint<Feed>(.get, "/feed").option(\.cachePolicy, .staleIfOffline))
/// ```
///
/// A response from the cache has the headers `Age` and `Cache-Status`: see `APIResponse.isFromCache`. ``APIProviderCache`` has a test.
///
/// ### Stored responses
///
/// The server sets a response's lifetime. A fresh response is used without a request. A stale one is validated: concurrent requests share
/// one validation, and a 304 makes the response fresh again. Each redirect is stored under the redirecting URL. A whole response answers a
/// `HEAD` and a range, too. A successful `POST`, `PUT`, `DELETE` or other unsafe request removes the responses for its URL. Downloads,
/// streams, GETs with a body and `no-store` responses are not cached. The last twenty variants by `Vary` are stored.
///
/// ### The order of middlewares
///
/// Put the cache after middlewares for headers in a server's `Vary`, and before `RetryMiddleware` and `AuthenticationMiddleware`.
///
/// ### Sign-out
///
/// A cache belongs to one user: it also stores responses to authenticated requests, and uses them with any token. Call ``removeAll()`` on
/// sign-out. Two accounts at the same time need two caches. Requests with and without `\.isAuthenticated` do not share responses.
public final class CacheMiddleware: Middleware {
    static let maxVariants = 20

    struct State {
        var statistics = CacheStatistics()
        var epoch = StoreEpoch()
        /// The number of sign-outs at the last `removeAll()`; 0 in a new cache, whose folder may have an earlier user's responses.
        var signOutCountAtRemoval = 0
        /// The number of running `removeAll` calls.
        var runningRemovalCount = 0
    }

    /// A cacheable request.
    struct Lookup {
        var request: PreparedRequest
        let keyState: KeyState
        let next: Next
    }

    /// A look-up on its way to the server, with the request's headers and time.
    struct SentLookup {
        let lookup: Lookup
        let headers: SentHeaders
        let time: Date
    }

    let store: any CacheStore
    /// Runs look-ups, so that a slow store does not block the subscriber. `nil` is the subscriber's thread.
    private let scheduler: (any Scheduler)?
    let now: @Sendable () -> Date
    let languages: @Sendable () -> [String]
    let currentSignOutCount: @Sendable () -> Int
    let state = Locked(State())

    // MARK: - Creating and clearing a cache

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - storage: The place for responses. Caches in memory share nothing.
    ///   - now: Returns the current date.
    public convenience init(_ storage: Storage = .memory(), now: @escaping @Sendable () -> Date = { Date() }) {
        let (store, scheduler) = storage.makeStore()
        self.init(store, scheduler: scheduler, now: now)
    }

    /// - Parameters:
    ///   - languages: The system's languages for a request without `Accept-Language`.
    ///   - currentSignOutCount: Returns the number of sign-outs in this process.
    init(
        _ store: any CacheStore, scheduler: (any Scheduler)?, now: @escaping @Sendable () -> Date,
        languages: @escaping @Sendable () -> [String] = { Locale.preferredLanguages },
        currentSignOutCount: @escaping @Sendable () -> Int = { SignOutCounter.current }
    ) {
        (self.store, self.scheduler, self.now, self.languages) = (store, scheduler, now, languages)
        self.currentSignOutCount = currentSignOutCount
    }

    /// The numbers of hits, validations and misses so far.
    public var statistics: CacheStatistics { state.withLock(\.statistics) }

    /// Removes all responses. Call this method on sign-out: `authentication.credential = nil; cache.removeAll()`.
    ///
    /// Waits for running writes, and removes their responses, too. A later response to an earlier request is not stored.
    public func removeAll() {
        let signOutCount = currentSignOutCount()
        let epoch = state.withLock { state in
            state.runningRemovalCount += 1
            state.signOutCountAtRemoval = signOutCount
            return exchange(&state.epoch, with: StoreEpoch())
        }
        epoch.writes.wait()
        store.removeAll()
        state.withLock { $0.runningRemovalCount -= 1 }
    }

    // MARK: - Answering a request

    /// Answers `request` from the cache, or passes it to `next`.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.destination == .memory, request.options.cachePolicy != .noStore, request.isPlainRead else {
            if request.options.cachePolicy == .onlyIfCached { return .just(.notStored(request, isStale: false)) }
            return sendWithoutLookup(request, next)
        }
        return .deferred { [self] in
            let epoch = epoch(of: request)
            return .followingRedirects(request) { [self] hop in
                var lookedUp = hop
                // The cache looks up each hop, so the transport must not follow redirects.
                lookedUp.followsRedirects = false
                // The request's `redirectPolicy` (`.decide`) may change the method.
                guard hop.isPlainRead else { return sendWithoutLookup(lookedUp, next) }
                return lookUp(lookedUp, epoch, next).map { $0.withRequestHeaders(of: hop) }
            }
        }
    }

    /// Returns the epoch for storing the response to a request that starts now. During `removeAll`, and after a sign-out since the
    /// subscription, returns a new epoch that never becomes current, so the response is not stored.
    func epoch(of request: PreparedRequest) -> StoreEpoch {
        isBeforeSignOut(request) ? StoreEpoch() : state.withLock { $0.runningRemovalCount == 0 ? $0.epoch : StoreEpoch() }
    }

    /// Whether a user signed out after the subscription to `request`.
    private func isBeforeSignOut(_ request: PreparedRequest) -> Bool {
        request.signOutCount.map { $0 < currentSignOutCount() } ?? false
    }

    private func lookUp(_ request: PreparedRequest, _ epoch: StoreEpoch, _ next: @escaping Next) -> Single<APIResponse> {
        let response = Single.deferred { [self] () -> Single<APIResponse> in
            let lookup = Lookup(request: request, keyState: epoch.state(for: request.cacheKey), next: next)
            // After the epoch or a sign-out, stored responses may be another user's.
            let isEpochOver = isBeforeSignOut(request) || state.withLock { $0.epoch !== epoch }
            let ignoresStored = isEpochOver || request.options.cachePolicy == .reload || request.hasServerConditions
            let stored = ignoresStored ? nil : mostRecentMatch(lookup, sentHeaders(request))
            switch Decision(for: request, stored: stored, at: now()) {
            case .use(let stored): return use(stored, lookup)
            case .useAndValidate(let stored):
                validateInBackground(stored, lookup)
                return use(stored, lookup)
            case .validate(let stored): return validateOrUse(stored, lookup)
            case .send: return send(lookup)
            case .fail:
                return .just(.notStored(request, isStale: stored != nil))
            }
        }
        return scheduler.map { response.subscribe(on: $0) } ?? response
    }

    func mostRecentMatch(_ lookup: Lookup, _ sentHeaders: @autoclosure () -> SentHeaders) -> CachedResponse? {
        lazy var headers = sentHeaders()
        return store.responses(for: lookup.keyState.key).filter {
            ($0.varyValues.isEmpty || $0.matchesVary(of: headers)) && $0.satisfiesRange(of: lookup.request)
        }.mostRecent
    }

    private func use(_ stored: CachedResponse, _ lookup: Lookup, cacheStatus: String = "hit") -> Single<APIResponse> {
        let now = now()
        guard var response = stored.response(to: lookup.request, at: now, cacheStatus: cacheStatus) else { return send(lookup) }
        response.isFromCache = true
        count {
            $0.hits += 1
            if stored.remainingFreshness(at: now) <= 0 { $0.staleHits += 1 }
        }
        return .just(response)
    }

    // MARK: - Validating and sending

    /// Validates a stale response for the next request, unless another background validation is running.
    private func validateInBackground(_ stored: CachedResponse, _ lookup: Lookup) {
        let keyState = lookup.keyState
        guard keyState.beginValidation() else { return }
        var lookup = lookup
        // Validate the whole response, even for a range or the head: a part would not be stored.
        lookup.request.method = .get
        lookup.request.headers["Range"] = nil
        // The app has its response: no progress follows.
        lookup.request.reportProgress = nil
        _ = validate(stored, lookup).do(onDispose: { keyState.endValidation() }).subscribe { _ in }
    }

    /// Validates a stored response before use. After an error, uses the response if the server or the app allows that.
    private func validateOrUse(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let mayUseStaleOnError = stored.mayBeUsedStaleAfterError(for: lookup.request, at: now())
        let mayUseStaleOffline = lookup.request.options.cachePolicy == .staleIfOffline && stored.mayBeUsedStale
        guard mayUseStaleOnError || mayUseStaleOffline else { return validate(stored, lookup) }
        return validate(stored, lookup).flatMap { [self] response in
            guard mayUseStaleOnError, [500, 502, 503, 504].contains(response.statusCode) else { return .just(response) }
            return use(stored, lookup, cacheStatus: "fwd=stale; fwd-status=\(response.statusCode)")
        }.catch { [self] error in
            guard (error as? APIError ?? .transport(lookup.request, underlying: error)).isTransient else { throw error }
            return use(stored, lookup, cacheStatus: "fwd=stale")
        }
    }

    /// Validates a stored response with the server. Concurrent requests share the answer.
    private func validate(_ stored: CachedResponse, _ lookup: Lookup) -> Single<APIResponse> {
        let request = lookup.request
        guard stored.hasValidator, !request.asksIfModified, request.method != .head else { return send(lookup) }
        return lookup.keyState.validationCoalescer.intercept(request.validating(stored)) { [self] conditional in
            count { $0.validations += 1 }
            let sent = sentLookup(for: lookup)
            return lookup.next(conditional).flatMap { [self] response in
                guard response.statusCode == 304, !response.wasRedirectedByTransport else {
                    storeResponse(response, sent)
                    return .just(response)
                }
                // After a 304 for an unknown response, send the request without conditions (RFC 9111, section 4.3.4).
                guard !stored.hasDifferentETag(from: response) else { return send(lookup) }
                let updated = stored.updated(by: response, requestTime: sent.time, responseTime: now())
                replaceStored(with: updated, sent, as: response.request)
                let cacheStatus = "fwd=stale; fwd-status=304; stored"
                return .just(updated.response(to: request, at: now(), cacheStatus: cacheStatus) ?? response)
            }
        }
    }

    private func send(_ lookup: Lookup) -> Single<APIResponse> {
        count { $0.misses += 1 }
        let sent = sentLookup(for: lookup)
        return lookup.next(lookup.request).do(onSuccess: { [self] in storeResponse($0, sent) })
    }

    private func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }
}
