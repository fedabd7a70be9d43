import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// What happens when a server redirects a request: see ``RequestOptions/redirects``.
public enum RedirectPolicy: Sendable {
    /// Redirects are followed, at most 20.
    case follow
    /// The redirect is the response, and an endpoint accepts its status: read the `Location` with `withResponse()`.
    case never
    /// The closure decides. It gets the request that would follow and the redirect, and returns that request, changed or not, or `nil`: then
    /// the redirect is the response. An endpoint refuses its status, unless its `validating` accepts it.
    /// If the closure throws, the request fails with that error. It is called on any thread.
    ///
    /// To another origin, the proposed request has only headers that are known to be harmless.
    case decide(@Sendable (_ next: URLRequest, _ redirect: APIResponse) throws -> URLRequest?)
}

extension RequestOptions {
    /// What happens when the server redirects the request.
    ///
    /// ```swift
    /// Endpoint<Void>(.get, "/short/\(id)").option(\.redirects, .never).withResponse()
    /// Endpoint<Data>(.get, "/file").option(
    ///     \.redirects,
    ///     .decide { next, _ in next.url?.host == "cdn.example.com" ? next : nil })
    /// ```
    public var redirects: RedirectPolicy {
        get { self[RedirectKey.self] }
        set { self[RedirectKey.self] = newValue }
    }
}

private enum RedirectKey: RequestOptionKey { static var defaultValue: RedirectPolicy { .follow } }

extension Endpoint {
    /// Follows the redirects as the options say.
    func redirecting(_ send: @escaping Middleware.Next) -> Middleware.Next {
        switch options.redirects {
        case .follow: send
        case .never: { send($0.returningRedirects) }
        case .decide(let decide):
            { request in
                // A cache follows them itself.
                guard !request.has(.returnsRedirects) else { return send(request) }
                return .following(request.returningRedirects, where: { try decide($0, $1)?.returningRedirects }, send)
            }
        }
    }
}

extension URLRequest {
    /// The same request, whose redirects no transport follows.
    package var returningRedirects: URLRequest {
        var request = self
        request.add(.returnsRedirects)
        return request
    }
}
