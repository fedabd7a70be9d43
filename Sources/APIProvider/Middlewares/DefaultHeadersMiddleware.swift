import Foundation
public import MiniRx

/// Adds headers missing in a request. Names are case-insensitive.
///
/// ```swift
/// DefaultHeadersMiddleware(["Accept-Language": "en", "X-Client": "app"])
/// ```
///
/// The headers are for one API: requests to hosts outside `hosts` do not get them. A redirect to another origin drops all but harmless
/// ones, even if both are in `hosts`, unless a middleware before this one, such as `CacheMiddleware`, follows the redirect. For a token
/// with a refresh, use ``AuthenticationMiddleware``.
///
/// Also sets a `User-Agent` such as `Stars/1.2 (iOS 17.5.1) APIProvider` (RFC 9110, section 10.1.5), for all hosts, from the name and
/// version of the app's bundle, or from the process's name without a bundle.
///
/// If a name is not a token, or a value contains a control character other than a tab, each request with that header fails with
/// ``APIError/invalidRequest(reason:underlying:)``.
public struct DefaultHeadersMiddleware: Middleware {
    private let headers: HTTPHeaders
    private let userAgent: HTTPHeaders
    private let hosts: AllowedHosts

    /// Creates a middleware that sets `headers`.
    ///
    /// - Parameters:
    ///   - headers: The headers.
    ///   - userAgent: The `User-Agent`. `nil` means the one in `headers`, or else the app's name and version.
    ///   - hosts: The headers' hosts: `["api.example.com"]`, over `http` only if the base URL is `http`. By default, the base URL's scheme,
    ///     host and port. Without hosts and base URL, every host gets the headers, except that with `Authorization`, `Proxy-Authorization`
    ///     or `Cookie` each request fails.
    public init(_ headers: HTTPHeaders = [:], userAgent: String? = nil, hosts: Set<String>? = nil) {
        self.userAgent = ["User-Agent": userAgent ?? headers["User-Agent"] ?? UserAgent.ofThisProcess]
        (self.headers, self.hosts) = (headers, AllowedHosts(hosts, of: "DefaultHeadersMiddleware"))
    }

    /// Passes `request` to `next` with the missing headers.
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

    /// Headers without a credential go to all hosts if neither the app nor a base URL names any. A redirect to another origin drops the
    /// headers, and they are not added again.
    private func headers(for request: PreparedRequest) throws -> HTTPHeaders {
        guard !headers.isEmpty else { return [:] }
        let hasCredential = ["Authorization", "Proxy-Authorization", "Cookie"].contains { headers[$0] != nil }
        let isIncluded = hosts.areUnspecified(for: request) && !hasCredential ? !request.hasLeftOrigin : try hosts.contains(request)
        return isIncluded ? headers : [:]
    }
}
