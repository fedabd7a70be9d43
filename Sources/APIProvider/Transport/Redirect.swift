import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Sends `request`, and follows redirects as its options say.
    package static func followingRedirects(
        _ request: PreparedRequest, count: Int = 0, _ send: @escaping @Sendable (PreparedRequest) -> Single
    ) -> Single {
        send(request).continuing { event in
            let response: APIResponse
            switch event {
            case .success(let received): response = try received.saved(to: request.destination)
            // The error names the request that failed, so that ``RetryMiddleware`` does not repeat one that the server has already
            // redirected.
            case .failure(let error as URLError): throw APIError.transport(request, underlying: error)
            case .failure(let error): throw error
            }
            guard !request.returnsRedirects,
                var next = try response.redirectedRequest(by: request.options.redirectPolicy, of: request)
            else { return .event(.success(response)) }
            guard count < RedirectPolicy.maxRedirects else {
                throw APIError.transport(next, underlying: URLError(.httpTooManyRedirects))
            }
            let hasLeftOrigin = request.redirectTrail == .otherOrigin || next.url.origin != response.request.url.origin
            next.redirectTrail = hasLeftOrigin ? .otherOrigin : .sameOrigin
            return .single(followingRedirects(next, count: count + 1, send))
        }
    }
}

extension APIResponse {
    /// The request to follow a redirect with, or `nil` if this response is the answer.
    fileprivate func redirectedRequest(by policy: RedirectPolicy, of sent: PreparedRequest) throws -> PreparedRequest? {
        if case .follow = policy { return proposedRequest(of: sent) }
        try refuseRedirects(of: sent)
        guard case .decide(let decide) = policy, let proposed = proposedRequest(of: sent) else { return nil }
        return try decide(proposed, self)?.restoringContext(of: proposed)
    }

    /// The request that follows this redirect (RFC 9110, section 15.4); `nil` if this is no redirect, or one that cannot be followed.
    fileprivate func proposedRequest(of sent: PreparedRequest) -> PreparedRequest? {
        guard [301, 302, 303, 307, 308].contains(statusCode) else { return nil }
        let from = request.url
        guard let location = value(forHTTPHeaderField: "Location"),
            let to = URL(reference: location, from: from), to.host?.isEmpty == false, to.impossiblePort == nil,
            let scheme = to.scheme?.lowercased(), scheme == "https" || scheme == "http" && from.scheme?.lowercased() == "http"
        else { return nil }

        var next = sent
        (next.url, next.headers, next.secrets) = (to.withoutUserInfo, request.headers, request.secrets)
        let becomesGet = statusCode == 303 ? sent.method != .head : sent.method == .post && statusCode < 307
        if becomesGet {
            (next.method, next.body) = (.get, nil)
            for name in request.headers.map({ $0.name.lowercased() })
            where name.hasPrefix("content-") || ["transfer-encoding", "trailer", "expect"].contains(name) { next.headers[name] = nil }
        }
        if to.origin != from.origin { next.headers = next.headers.forOtherOrigins }
        return next
    }
}

extension PreparedRequest {
    /// Whether its provider follows `response`, if that is a redirect. Where a closure decides, nobody knows before the whole has come.
    func follows(_ response: HTTPURLResponse) -> Bool {
        if case .never = options.redirectPolicy { return false }
        return context != nil && APIResponse(request: self, response: response, data: Data()).proposedRequest(of: self) != nil
    }

    /// The request to send again, if this request is not idempotent. Without a redirect, it is this request. After redirects within the
    /// origin, it is the last target, because the server has already processed this request. It has the header names of this request, with
    /// the values that `last` had; inner middlewares add theirs again.
    ///
    /// `nil` after a redirect to another origin, because what middlewares add does not belong there.
    func retryRequest(after last: PreparedRequest?) -> PreparedRequest? {
        guard let last, last.redirectTrail != .none else { return self }
        guard last.redirectTrail == .sameOrigin else { return nil }
        var next = self
        (next.url, next.method, next.redirectTrail) = (last.url, last.method, last.redirectTrail)
        if last.body == nil { next.body = nil }
        for (name, _) in headers { next.headers[name] = last.headers[name] }
        return next
    }
}
