import Foundation

/// The handling of redirects: see ``RequestOptions/redirectPolicy``.
public struct RedirectPolicy: Sendable {
    enum Kind: Sendable {
        case follow
        case never
        case decide(@Sendable (_ next: PreparedRequest, _ redirect: APIResponse) throws -> PreparedRequest?)
    }

    let kind: Kind

    /// Redirects are followed, at most 20. A redirect from https to http is always the response.
    public static let follow = RedirectPolicy(kind: .follow)
    /// The redirect is the response. An endpoint accepts the status, except in downloads and streams. Read the `Location` with
    /// `withResponse()`.
    public static let never = RedirectPolicy(kind: .never)
    /// Your closure decides about each redirect.
    ///
    /// For a redirect to another origin, the proposed request keeps only headers without credentials: conditional and range headers,
    /// `User-Agent`, `Cache-Control`, `Idempotency-Key`, `Last-Event-ID`, and those about the body or accepted responses, such as
    /// `Content-Type` and `Accept`.
    ///
    /// - Parameter decide: Gets the proposed request and the redirect, on any thread. To follow the redirect, return the request, changed
    ///   or not. To make the redirect the response, return `nil`. An endpoint then fails, because the status is not in 200...299, unless
    ///   ``Endpoint/validating(_:)`` accepts the redirect. If the closure throws, the request fails with that error. A redirect from https
    ///   to http is the response, without a call: to follow one, request the `Location`.
    public static func decide(
        _ decide: @escaping @Sendable (_ next: PreparedRequest, _ redirect: APIResponse) throws -> PreparedRequest?
    ) -> RedirectPolicy {
        RedirectPolicy(kind: .decide(decide))
    }

    /// Whether both follow redirects, return them or ask a closure.
    package func hasSameKind(as other: RedirectPolicy) -> Bool {
        switch (kind, other.kind) {
        case (.follow, .follow), (.never, .never), (.decide, .decide): true
        default: false
        }
    }
}

extension RequestOptions {
    /// The handling of this request's redirects. By default, they are followed.
    ///
    /// ```swift
    /// Endpoint<Void>(.get, "/short/\(id)").option(\.redirectPolicy, .never).withResponse()
    /// Endpoint<Data>(.get, "/file").option(
    ///     \.redirectPolicy,
    ///     .decide { next, _ in next.url.host == "cdn.example.com" ? next : nil })
    /// ```
    ///
    /// If your own ``Transport`` follows redirects by itself, only ``RedirectPolicy/follow`` works. With another policy, a request fails
    /// after such a redirect.
    public var redirectPolicy: RedirectPolicy {
        get { self[RedirectKey.self] ?? .follow }
        set { self[RedirectKey.self] = newValue }
    }
}

/// `nil` keeps the policy of the request before the redirect. ``RedirectPolicy/follow`` replaces it.
private enum RedirectKey: BuiltInOptionKey { static var defaultValue: RedirectPolicy? { nil } }

private enum FollowsRedirectsKey: BuiltInOptionKey { static var defaultValue: Bool { true } }

// MARK: - Redirected requests

extension APIResponse {
    /// The redirect policy in the response's request, maybe changed by a middleware, or else in `options`.
    package func redirectPolicy(or options: RequestOptions) -> RedirectPolicy {
        request.options[RedirectKey.self] ?? options.redirectPolicy
    }
}

extension PreparedRequest {
    /// Whether the provider follows a redirect. Set to `false` by a middleware that follows redirects itself.
    package var followsRedirects: Bool {
        get { options[FollowsRedirectsKey.self] }
        set { options[FollowsRedirectsKey.self] = newValue }
    }

}

extension URL {
    /// The bytes of the origin, the path and the query without percent-encoding, for comparing URLs.
    var normalizedComponents: [[UInt8]] {
        let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = components?.path ?? ""
        return [origin, path.isEmpty ? "/" : path, components?.query ?? ""].map { Array($0.utf8) }
    }
}
