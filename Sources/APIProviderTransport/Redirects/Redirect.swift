import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Sends `request`, and follows redirects by the sent request's policy, maybe changed by a middleware.
    ///
    /// A provider calls this around its transport. A cache follows redirects itself, because it stores them: it calls this function, and
    /// sets `followsRedirects` to `false` in each request that it passes on, so that the provider does not follow them again.
    package static func followingRedirects(
        _ request: PreparedRequest, count: Int = 0, _ send: @escaping @Sendable (PreparedRequest) -> Single
    ) -> Single {
        send(request).flatMapResult { event in
            let response: APIResponse
            switch event {
            case .success(let received): response = received
            // The error names the failed request, with the redirects for ``RetryMiddleware``.
            case .failure(let error as URLError): throw APIError.transport(request, underlying: error)
            case .failure(let error): throw error
            }
            guard request.followsRedirects,
                var next = try response.redirectedRequest(by: response.redirectPolicy(or: request.options), of: request)
            else { return .event(.success(response)) }
            guard count < RedirectRules.maxRedirects else {
                throw APIError.transport(next, underlying: URLError(.httpTooManyRedirects))
            }
            next.redirectChain = request.redirectChain + [RedirectedRequest(response.request)]
            return .single(followingRedirects(next, count: count + 1, send))
        }
    }
}

extension APIResponse {
    /// A redirect's next request, or `nil` for a final response.
    fileprivate func redirectedRequest(by policy: RedirectPolicy, of sent: PreparedRequest) throws -> PreparedRequest? {
        if case .follow = policy.kind { return httpResponse.isRedirect ? nextRequest(for: sent) : nil }
        try requireNotRedirected(of: sent)
        guard case .decide(let decide) = policy.kind, let proposed = nextRequest(for: sent) else { return nil }
        guard var next = try decide(proposed, self) else { return nil }
        // Even a new request from the closure is the next request, with the options and the destination.
        let options = next.options
        next.options = proposed.options
        next.options.merge(options)
        next.secrets.merge(proposed.secrets)
        return next
    }
}

extension APIResponse {
    /// Whether the response comes from another URL than its ``request``: the transport followed a redirect by itself.
    ///
    /// The built-in transports leave redirects to the provider. Do not store such a response under the request's URL.
    public var wasRedirectedByTransport: Bool { isFromOtherURL(than: request) }

    private func isFromOtherURL(than request: PreparedRequest) -> Bool {
        httpResponse.url.map { $0.normalizedComponents != request.url.normalizedComponents } ?? false
    }

    /// Throws if the response comes from another URL than the `request`: the transport followed a redirect.
    func requireNotRedirected(of request: PreparedRequest) throws {
        guard isFromOtherURL(than: request) else { return }
        let reason =
            "the transport followed a redirect by itself, so the option redirectPolicy has no effect; turn that off in the transport"
        throw APIError.transport(request, underlying: URLError(.httpTooManyRedirects, reason: reason))
    }
}
