import Foundation
public import MiniRx

/// Sets headers that a request does not have. Names are case-insensitive.
///
/// ```swift
/// DefaultHeadersMiddleware(["Accept-Language": "en", "X-Client": "app"])
/// ```
///
/// They are for one API: requests to other hosts than `hosts` do not get them. A redirect to another origin drops all but harmless ones,
/// also if both are in `hosts`, unless a middleware before this one follows the redirect, as `CacheMiddleware` does. To send a token that
/// can be refreshed, use ``AuthenticationMiddleware``.
///
/// It also sets a `User-Agent` such as `Stars/1.2 (iOS 17.5.1) APIProvider` (RFC 9110, section 10.1.5), for all hosts. It has the name and
/// version of the app's bundle, or the name of the process if there is no bundle.
///
/// If a name is not a token, or a value has a control character other than a tab, a request that gets the header fails with
/// ``APIError/invalidRequest(reason:underlying:)``.
public struct DefaultHeadersMiddleware: Middleware {
    private let headers: HTTPHeaders
    private let userAgent: HTTPHeaders
    private let hosts: AllowedHosts

    /// Creates a middleware that sets `headers`.
    ///
    /// - Parameters:
    ///   - headers: The headers.
    ///   - userAgent: The `User-Agent`. `nil` is that of `headers`, or else the name and version of the app.
    ///   - hosts: The hosts that get the headers: `["api.example.com"]`. They get them over `http` only if the base URL is `http`. By
    ///     default, only the scheme, host and port of the provider's base URL get them. If a provider without a base URL has no hosts
    ///     either, every host gets the headers, and a request fails if one of them is `Authorization`, `Proxy-Authorization` or `Cookie`.
    public init(_ headers: HTTPHeaders = [:], userAgent: String? = nil, hosts: Set<String>? = nil) {
        self.userAgent = ["User-Agent": userAgent ?? headers["User-Agent"] ?? UserAgent.ofThisProcess]
        (self.headers, self.hosts) = (headers, AllowedHosts(hosts, of: "DefaultHeadersMiddleware"))
    }

    /// Passes `request` to `next` with the headers that it does not have.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            var request = request
            request.addMissingHeaders(userAgent)
            request.addMissingHeaders(try headers(for: request))
            return next(request)
        } catch {
            return .error(error)
        }
    }

    /// Headers without a credential go to all hosts if neither the app nor a base URL names any. After a redirect to another origin, which
    /// has dropped them, they are not added again.
    private func headers(for request: PreparedRequest) throws -> HTTPHeaders {
        guard !headers.isEmpty else { return [:] }
        let hasCredential = ["Authorization", "Proxy-Authorization", "Cookie"].contains { headers[$0] != nil }
        let isIncluded = hosts.areUnspecified(for: request) && !hasCredential ? !request.hasLeftOrigin : try hosts.contains(request)
        return isIncluded ? headers : [:]
    }
}
