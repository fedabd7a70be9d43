import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Sends `request`, and follows redirects as the options say with which it was sent: a middleware may have changed them.
    ///
    /// A provider does this before its transport. A cache does it, too, and sends each hop with `returnsRedirects`: it may have the redirect,
    /// or the response of the target. Then the provider's own call only names the request in an error.
    package static func followingRedirects(
        _ request: PreparedRequest, count: Int = 0, _ send: @escaping @Sendable (PreparedRequest) -> Single
    ) -> Single {
        send(request).continuing { event in
            let response: APIResponse
            switch event {
            case .success(let received): response = received
            // The error names the request that failed, so that ``RetryMiddleware`` knows of the redirects before it.
            case .failure(let error as URLError): throw APIError.transport(request, underlying: error)
            case .failure(let error): throw error
            }
            guard !request.returnsRedirects,
                var next = try response.redirectedRequest(by: response.redirectPolicy(or: request.options), of: request)
            else { return .event(.success(response)) }
            guard count < RedirectPolicy.maxRedirects else {
                throw APIError.transport(next, underlying: URLError(.httpTooManyRedirects))
            }
            let hasLeftOrigin = request.hasLeftOrigin || next.url.origin != response.request.url.origin
            next.redirectHistory = hasLeftOrigin ? .otherOrigin : .sameOrigin
            return .single(followingRedirects(next, count: count + 1, send))
        }
    }
}

extension APIResponse {
    /// The policy with which its request was sent; that of `options` if the request is not that of a provider, and so has no options.
    package func redirectPolicy(or options: RequestOptions) -> RedirectPolicy {
        request.context == nil ? options.redirectPolicy : request.options.redirectPolicy
    }

    /// The request to follow a redirect with, or `nil` if this response is the answer.
    fileprivate func redirectedRequest(by policy: RedirectPolicy, of sent: PreparedRequest) throws -> PreparedRequest? {
        if case .follow = policy.kind { return proposedRequest(of: sent) }
        try refuseRedirects(of: sent)
        guard case .decide(let decide) = policy.kind, let proposed = proposedRequest(of: sent) else { return nil }
        return try decide(proposed, self)?.restoringContext(of: proposed)
    }

    /// The request that follows this redirect (RFC 9110, section 15.4); `nil` if this is no redirect, or one that cannot be followed.
    fileprivate func proposedRequest(of sent: PreparedRequest) -> PreparedRequest? {
        guard [301, 302, 303, 307, 308].contains(statusCode) else { return nil }
        let from = request.url
        guard let location = value(forHTTPHeaderField: "Location"),
            let to = URL(reference: location, from: from)?.inheritingFragment(of: sent.url), to.host?.isEmpty == false,
            to.impossiblePort == nil, let scheme = to.scheme?.lowercased(), scheme == "https" || scheme == from.scheme?.lowercased()
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
        if case .never = options.redirectPolicy.kind { return false }
        return context != nil && APIResponse(request: self, httpResponse: response, data: Data()).proposedRequest(of: self) != nil
    }
}

extension Transport {
    /// Sends `request` without the fragment of its URL, which is not for the server (RFC 9110, section 7.1). The response has it again.
    func sendWithoutFragment(_ request: PreparedRequest) -> Single<APIResponse> {
        guard let url = request.url.withoutFragment else { return send(request) }
        var sent = request
        sent.url = url
        return send(sent).map { response in
            guard response.request.url == url else { return response }
            var response = response
            response.request.url = request.url
            return response
        }
    }
}

/// Whether redirects led to a request, and whether one left the origin.
enum RedirectHistory: Sendable {
    /// It is the first request.
    case none
    case sameOrigin
    /// At least one of them led to another origin.
    case otherOrigin
}

extension PreparedRequest {
    /// Whether a redirect led to this request. The server has then acted on the request that it has redirected.
    var wasRedirected: Bool { redirectHistory != .none }

    /// Whether a redirect led to another origin.
    var hasLeftOrigin: Bool { redirectHistory == .otherOrigin }
}
