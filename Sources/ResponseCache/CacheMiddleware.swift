public import APIProvider
public import MiniRx

#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Keeps responses and answers with them, as a private HTTP cache does (RFC 9111 and RFC 5861).
///
/// ```swift
/// let cache = CacheMiddleware(DiskCache(folder, maximumBytes: 50_000_000))
/// let provider = DefaultAPIProvider(
///     baseURL: api, middlewares: [cache, RetryMiddleware(), authentication])
///
/// provider.request(Endpoint<Feed>(.get, "/feed").option(\.caching, .staleIfOffline))
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
/// is not stored after that.
///
/// A response from the cache has the headers `Age` and `Cache-Status`: see `APIResponse.isFromCache`.
public final class CacheMiddleware: Middleware {
    /// The name in `Cache-Status`.
    static let name = "ResponseCache"
    /// How many responses to the requests for one URL are kept, which `Vary` tells apart.
    private static let variants = 20

    private struct State {
        var statistics = CacheStatistics()
        /// The number of calls of `removeAll`. What was asked for before is not stored after that.
        var generation = 0
        /// How many such calls are under way. A request that comes meanwhile may read what is then removed, so it stores nothing.
        var removals = 0
        /// How many requests are under way for each key, and whether their responses may be older than a change.
        var underWay: [String: (count: Int, isOutdated: Bool)] = [:]
        /// The keys of responses that are validated while the app uses them.
        var validating: Set<String> = []
    }

    /// One request on its way through the cache.
    private struct Passage {
        let request: URLRequest
        let options: RequestOptions
        let key: String
        let generation: Int?
        let next: Next
    }

    private let store: any CacheStore
    private let now: @Sendable () -> Date
    private let validations = CoalescingMiddleware()
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

    /// Forgets all responses. Call it at the sign-out: `authentication.token = nil; cache.removeAll()`.
    public func removeAll() {
        state.withLock { ($0.generation, $0.removals) = ($0.generation + 1, $0.removals + 1) }
        store.removeAll()
        state.withLock { $0.removals -= 1 }
    }

    /// Returns the response from the cache, or the one to `request`.
    public func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse> {
        guard options.isWhole, options.caching != .noStore, request.isPlainGET else { return passing(request, options, next) }
        // Each hop comes here: what is sent follows none. A closure may lead from a GET to another method.
        let answer: Next = { [self] request in
            let send: Next = { next($0.returningRedirects) }
            return request.isPlainGET ? answered(request, options, send) : passing(request, options, send)
        }
        switch options.redirects {
        case .never: return answered(request, options, next)
        case .follow: return .following(request, where: { next, _ in next }, answer)
        case .decide(let decide): return .following(request, where: decide, answer)
        }
    }

    /// Sends a request that the cache does not answer, and removes what it may have changed.
    private func passing(_ request: URLRequest, _ options: RequestOptions, _ next: @escaping Next) -> Single<APIResponse> {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET") else { return next(request) }
        return .deferred { [self] in
            let (passage, requested) = (passage(request, options, next), now())
            return next(request).do(onSuccess: { [self] in invalidate($0, passage, requested: requested) })
        }
    }

    private func passage(_ request: URLRequest, _ options: RequestOptions, _ next: @escaping Next) -> Passage {
        let generation = state.withLock { $0.removals == 0 ? $0.generation : nil }
        return Passage(request: request, options: options, key: request.url?.cacheKey ?? "", generation: generation, next: next)
    }

    private func answered(_ request: URLRequest, _ options: RequestOptions, _ next: @escaping Next) -> Single<APIResponse> {
        let answer = Single.deferred { [self] () -> Single<APIResponse> in
            let passage = passage(request, options, next)
            let readsNothing = options.caching == .reload || request.hasOtherConditions
            let stored = readsNothing ? nil : best(for: request, passage.key)
            switch Decision(stored, for: request, options.caching, at: now()) {
            case .use(let stored): return use(stored, passage)
            case .useAndValidate(let stored):
                validateLater(stored, passage)
                return use(stored, passage)
            case .validate(let stored): return validateOrUse(stored, passage)
            case .send: return send(passage)
            case .fail:
                let status = "\(Self.name); fwd=\(stored == nil ? "uri-miss" : "stale"); detail=only-if-cached"
                return .just(APIResponse(to: request, status: 504, headers: ["Cache-Status": status]))
            }
        }
        return store.scheduler.map { answer.subscribe(on: $0) } ?? answer
    }

    private func best(for request: URLRequest, _ key: String) -> CachedResponse? {
        store.responses(for: key).filter { $0.matches(request) && $0.answers(request) }.max { $0.received < $1.received }
    }

    private func use(_ stored: CachedResponse, _ passage: Passage) -> Single<APIResponse> {
        let now = now()
        guard let response = stored.response(to: passage.request, at: now) else { return send(passage) }
        count {
            $0.hits += 1
            if stored.freshFor(at: now) <= 0 { $0.staleHits += 1 }
        }
        return .just(response)
    }

    /// Sends the request, and stores its response.
    private func send(_ passage: Passage) -> Single<APIResponse> {
        count { $0.misses += 1 }
        return request(passage.request, passage) { [self] response, requested in
            keep(response, passage, requested: requested)
            return response
        }
    }

    /// Asks the server whether the stored response still is right.
    private func validate(_ stored: CachedResponse, _ passage: Passage) -> Single<APIResponse> {
        guard stored.hasValidator, !passage.request.isConditional, passage.request.httpMethod != "HEAD", passage.request.range == nil
        else { return send(passage) }
        return validations.intercept(passage.request.validating(stored), options: passage.options) { [self] conditional in
            count { $0.revalidations += 1 }
            return request(conditional, passage) { [self] response, requested in
                guard response.statusCode == 304 else {
                    keep(response, passage, requested: requested)
                    return response.withoutValidation
                }
                let updated = stored.updated(by: response, requested: requested, received: now())
                replace(passage, with: updated, sent: response.request)
                let detail = "\(Self.name); fwd=stale; fwd-status=304; stored"
                return updated.response(to: passage.request, at: now(), status: detail) ?? response
            }
        }
    }

    /// The answer of the server or, after an error, the stored response where that is allowed.
    private func validateOrUse(_ stored: CachedResponse, _ passage: Passage) -> Single<APIResponse> {
        let isForErrors = stored.staleIfError(for: passage.request, at: now())
        let isForOffline = passage.options.caching == .staleIfOffline && stored.mayBeStale
        guard isForErrors || isForOffline else { return validate(stored, passage) }
        return validate(stored, passage).flatMap { [self] response in
            isForErrors && [500, 502, 503, 504].contains(response.statusCode) ? use(stored, passage) : .just(response)
        }.catch { [self] error in
            guard error.isTransient else { throw error }
            return use(stored, passage)
        }
    }

    /// Validates while the app has the stale response, unless that is done already.
    private func validateLater(_ stored: CachedResponse, _ passage: Passage) {
        guard state.withLock({ $0.validating.insert(passage.key).inserted }) else { return }
        _ = validate(stored, passage).do(onDispose: { [state] in _ = state.withLock { $0.validating.remove(passage.key) } })
            .subscribe { _ in }
    }

    /// Stores what may be stored.
    private func keep(_ response: APIResponse, _ passage: Passage, requested: Date) {
        let (request, status, received) = (passage.request, response.statusCode, now())
        guard request.range == nil, !request.hasOtherConditions else { return }
        guard status != 304, request.httpMethod != "HEAD" else {
            // A 304 to the app's own condition, or the head of what is stored (RFC 9111, section 4.3.5).
            guard let stored = best(for: request, passage.key) else { return }
            if stored.isSame(as: response) {
                let updated = stored.updated(by: response, requested: requested, received: received)
                replace(passage, with: updated, sent: response.request)
            } else if status == stored.status {
                replace(passage, with: nil, sent: response.request)
            }
            return
        }
        // An error of the server says nothing about what is stored.
        if status >= 500, let stored = best(for: request, passage.key), stored.status < 500 { return }
        let new = CachedResponse(response, requested: requested, received: received)
        replace(passage, with: new, sent: response.request)
    }

    /// Stores `new` in the place of what the request would get. If `new` is nil or may not be stored, the old one is removed: it is not right
    /// any more.
    private func replace(_ passage: Passage, with new: CachedResponse?, sent: URLRequest) {
        guard isCurrent(passage), !passage.request.cacheControl.has("no-store") else { return }
        let old = store.responses(for: passage.key)
        let kept = new?.stored(for: passage.request, sent: sent)
        let all = old.filter { !$0.matches(passage.request) }.suffix(Self.variants - 1) + [kept].compactMap { $0 }
        if !all.isEmpty || !old.isEmpty { store.replace(Array(all), for: passage.key) }
        // A removal may have come while this was written.
        if !isCurrent(passage) { store.replace([], for: passage.key) }
    }

    private func isCurrent(_ passage: Passage) -> Bool {
        state.withLock { $0.generation == passage.generation && $0.underWay[passage.key]?.isOutdated != true }
    }

    /// Counts `request` among those under way, until `take` has done with its response.
    private func request(
        _ request: URLRequest, _ passage: Passage, _ take: @escaping @Sendable (APIResponse, _ requested: Date) -> APIResponse
    ) -> Single<APIResponse> {
        .deferred { [self] in
            state.withLock { $0.underWay[passage.key, default: (0, false)].count += 1 }
            let requested = now()
            return passage.next(request).map { take($0, requested) }.do(onDispose: { [state] in
                state.withLock { state in
                    state.underWay[passage.key]?.count -= 1
                    if state.underWay[passage.key]?.count == 0 { state.underWay[passage.key] = nil }
                }
            })
        }
    }

    /// Removes what an unsafe method may have changed (RFC 9111, section 4.4), unless its response is what a GET would get.
    private func invalidate(_ response: APIResponse, _ passage: Passage, requested: Date) {
        guard 200..<400 ~= response.statusCode, let url = passage.request.url, let answering = response.request.url else { return }
        // Another origin, to which the request was redirected, says nothing about this one.
        let others = ["Location", "Content-Location"].compactMap { response.value(forHTTPHeaderField: $0) }
            .compactMap { URL(string: $0, relativeTo: answering)?.absoluteURL }
            .filter { $0.origin == url.origin && $0.origin == answering.origin }
        for key in ([url, answering] + others).map(\.cacheKey) {
            state.withLock { $0.underWay[key]?.isOutdated = true }
            store.replace([], for: key)
        }
        // RFC 9110, section 9.3.3.
        let new = CachedResponse(response, requested: requested, received: now())
        guard passage.request.httpMethod == "POST", passage.options.isWhole, passage.options.caching != .noStore,
            response.value(forHTTPHeaderField: "Content-Location") != nil, others.contains(where: { $0.cacheKey == passage.key }),
            answering.cacheKey == passage.key, new.freshFor(at: now()) > 0
        else { return }
        replace(passage, with: new, sent: response.request)
    }

    private func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }
}

extension CacheMiddleware: CustomStringConvertible, CustomReflectable {
    /// The name of the type, and what it has done.
    public var description: String { "CacheMiddleware(\(statistics))" }

    /// A mirror with the statistics only, so that `dump` shows no response.
    public var customMirror: Mirror { Mirror(self, children: ["statistics": statistics]) }
}
