import APIProvider
import Foundation
import MiniRx

extension CacheMiddleware {
    func storeResponse(_ response: APIResponse, _ sentLookup: SentLookup) {
        let (request, statusCode) = (sentLookup.lookup.request, response.statusCode)
        guard request.method != .head, request.range == nil, !request.hasServerConditions, !response.wasRedirectedByTransport else {
            return
        }
        if statusCode == 304 {
            // A 304 to the app's own condition only updates stored responses.
            guard let stored = mostRecentMatch(sentLookup.lookup, sentLookup.headers), stored.canBeUpdated(by: response) else { return }
            let updated = stored.updated(by: response, requestTime: sentLookup.time, responseTime: now())
            replaceStored(with: updated, sentLookup, as: response.request)
        } else {
            // A cached redirect follows the request's policy. A middleware behind the cache may set another.
            if 300..<400 ~= statusCode, !response.redirectPolicy(or: request.options).hasSameKind(as: request.options.redirectPolicy) {
                return
            }
            // A failure or refusal replaces no other kind of stored response.
            if statusCode.isFailureOrRefusal, let stored = mostRecentMatch(sentLookup.lookup, sentLookup.headers),
                !stored.statusCode.isFailureOrRefusal
            {
                return
            }
            let new = CachedResponse(response, requestTime: sentLookup.time, responseTime: now())
            replaceStored(with: new, sentLookup, as: response.request)
        }
    }

    /// Replaces the matching stored responses by `new`, or only removes them if `new` must not be stored.
    func replaceStored(with new: CachedResponse, _ sentLookup: SentLookup, as sent: PreparedRequest) {
        let epoch = sentLookup.lookup.keyState.epoch
        guard !sentLookup.lookup.request.cacheControl.contains("no-store"), beginWriting(epoch) else { return }
        sentLookup.lookup.keyState.serialize { [self] in
            write(new, sentLookup, as: sent)
            epoch.writes.leave()
        }
    }

    private func write(_ new: CachedResponse, _ sentLookup: SentLookup, as sent: PreparedRequest) {
        let (request, keyState, headers) = (sentLookup.lookup.request, sentLookup.lookup.keyState, sentLookup.headers)
        guard !keyState.isInvalidated else { return }
        let (old, now) = (store.responses(for: keyState.key), now())
        // Keep a later request's response. A request time in the future is a clock error, and does not count.
        guard !old.contains(where: { $0.matchesVary(of: headers) && $0.requestTime > sentLookup.time && $0.requestTime <= now })
        else { return }
        let others = old.filter { !$0.matchesVary(of: headers) }
        let storable = new.storable(
            for: request, sent: sent, headersBefore: headers, headersNow: sentHeaders(request))
        let all = (others + [storable].compactMap { $0 }).suffix(Self.maxVariants)
        if !all.isEmpty || !old.isEmpty { store.replace(Array(all), for: keyState.key) }
        // An unsafe request may change the resource during the write.
        if keyState.isInvalidated { store.replace([], for: keyState.key) }
    }

    /// Makes `removeAll` wait for the caller's `epoch.writes.leave()`. Returns false for a past epoch.
    private func beginWriting(_ epoch: StoreEpoch) -> Bool {
        state.withLock { state in
            guard state.epoch === epoch else { return false }
            epoch.writes.enter()
            return true
        }
    }

    // MARK: - Requests without a look-up

    /// Sends a request without looking in the cache. A successful unsafe request invalidates the responses for its URL. The response to a
    /// POST may be stored.
    func sendWithoutLookup(_ request: PreparedRequest, _ next: @escaping Next) -> Single<APIResponse> {
        guard ![.get, .head, .options, "TRACE"].contains(request.method) else { return next(request) }
        return .deferred { [self] in
            let (epoch, headers, time) = (epoch(of: request), sentHeaders(request), now())
            return next(request).do(onSuccess: { [self] response in
                guard 200..<400 ~= response.statusCode else { return }
                invalidate(request, response)
                let lookup = Lookup(request: request, keyState: epoch.state(for: request.cacheKey), next: next)
                storePOST(response, SentLookup(lookup: lookup, headers: headers, time: time))
            })
        }
    }

    /// Removes the responses affected by a successful unsafe request (RFC 9111, section 4.4).
    private func invalidate(_ request: PreparedRequest, _ response: APIResponse) {
        let targets = ["Location", "Content-Location"].compactMap { response.target(of: $0, from: request) }
        for key in Set(([request.url, response.request.url] + targets).flatMap(\.cacheKeys)) {
            state.withLock(\.epoch).invalidate(key)
            store.replace([], for: key)
        }
    }

    /// Stores a POST's response with an explicit lifetime, and with the request's URL as its `Content-Location`: a GET would return the
    /// same (RFC 9110, section 9.3.3).
    private func storePOST(_ response: APIResponse, _ sentLookup: SentLookup) {
        let request = sentLookup.lookup.request
        guard request.method == .post, request.destination == .memory, request.options.cachePolicy != .noStore,
            response.request.url.absoluteString == request.url.absoluteString,
            response.target(of: "Content-Location", from: request)?.withoutFragment == request.url.absoluteString
        else { return }
        let new = CachedResponse(response, requestTime: sentLookup.time, responseTime: now())
        if new.freshness.isExplicit, new.remainingFreshness(at: now()) > 0 { replaceStored(with: new, sentLookup, as: response.request) }
    }
}
