import Foundation

/// What happens when a server redirects a request: see ``RequestOptions/redirectPolicy``.
public enum RedirectPolicy: Sendable {
    /// Redirects are followed, at most 20.
    case follow
    /// The redirect is the response, and an endpoint accepts its status: read the `Location` with `withResponse()`.
    case never
    /// The closure decides. It gets the request that would follow and the redirect, and returns that request, changed or not, or `nil`: then
    /// the redirect is the response. An endpoint refuses its status, unless its `validating` accepts it.
    /// If the closure throws, the request fails with that error. It is called on any thread.
    ///
    /// To another origin, the proposed request has only headers that say what the client takes and what the body is.
    case decide(@Sendable (_ next: PreparedRequest, _ redirect: APIResponse) throws -> PreparedRequest?)
}

extension RequestOptions {
    /// What happens when the server redirects the request.
    ///
    /// ```swift
    /// Endpoint<Void>(.get, "/short/\(id)").option(\.redirectPolicy, .never).withResponse()
    /// Endpoint<Data>(.get, "/file").option(
    ///     \.redirectPolicy,
    ///     .decide { next, _ in next.url.host == "cdn.example.com" ? next : nil })
    /// ```
    ///
    /// Only ``RedirectPolicy/follow`` works with your own ``Transport`` that follows redirects by itself. With any other policy, a redirected
    /// request fails.
    public var redirectPolicy: RedirectPolicy {
        get { self[RedirectKey.self] }
        set { self[RedirectKey.self] = newValue }
    }
}

private enum RedirectKey: RequestOptionKey { static var defaultValue: RedirectPolicy { .follow } }

extension APIResponse {
    /// Throws if the response comes from another URL than that of `request`: the transport has followed a redirect.
    func refuseRedirects(of request: PreparedRequest) throws {
        guard let url = response.url, url.resource != request.url.resource else { return }
        let reason =
            "the transport followed a redirect by itself, so the option redirectPolicy has no effect; turn that off in the transport"
        throw APIError.transport(request, underlying: URLError(.httpTooManyRedirects, reason: reason))
    }
}

extension URL {
    /// The origin, the path and the query, whatever is escaped in them.
    package var resource: [String] {
        let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = components?.path ?? ""
        return [origin, path.isEmpty ? "/" : path, components?.query ?? ""]
    }
}
