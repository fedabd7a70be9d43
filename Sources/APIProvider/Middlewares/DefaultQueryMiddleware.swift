import Foundation
public import MiniRx

/// Adds parameters to each request's query, such as an API's key.
///
/// ```swift
/// DefaultQueryMiddleware(["appid": token, "lang": "en"])
/// ```
///
/// A parameter already in the query is not added, so a next page's URL gets none twice. All other parameters keep their bytes. After a
/// redirect, the request keeps the server's query.
///
/// The parameters are for one API: requests to hosts outside `hosts` do not get them. Errors and logs show no query values, and hide values
/// of six bytes and more where a server repeats them.
public struct DefaultQueryMiddleware: Middleware {
    /// A closure, so that dumping the middleware does not show the values.
    private let query: @Sendable () -> QueryParameters
    private let hosts: AllowedHosts

    /// Creates a middleware that adds `query`.
    ///
    /// - Parameters:
    ///   - query: The parameters.
    ///   - hosts: The parameters' hosts: `["api.example.com"]`, over `http` only if the base URL is `http`. By default, the base URL's
    ///     scheme, host and port. A provider without a base URL needs hosts.
    public init(_ query: QueryParameters, hosts: Set<String>? = nil) {
        (self.query, self.hosts) = ({ query }, AllowedHosts(hosts, of: "DefaultQueryMiddleware"))
    }

    /// Passes `request` to `next` with the missing parameters.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard try hosts.contains(request), request.redirects.isEmpty else { return next(request) }
            let own = request.query
            var missing = query()
            for item in own { missing[item.name] = nil }
            var request = request
            request.query = own + missing
            // A shorter value, such as "en", may be a path segment by chance.
            for value in missing.compactMap(\.value) where value.utf8.count >= 6 { request.hide(value) }
            return next(request)
        } catch {
            return .error(error)
        }
    }
}
