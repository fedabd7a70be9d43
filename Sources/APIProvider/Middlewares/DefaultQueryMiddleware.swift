public import MiniRx

/// Adds parameters to the query of each request, such as the key of an API.
///
/// ```swift
/// DefaultQueryMiddleware(["appid": token, "lang": "en"])
/// ```
///
/// A parameter already in the query is not added, so the URL of a next page gets none twice. All other parameters keep their bytes. After a
/// redirect, the request keeps the server's query.
///
/// The parameters are for one API: requests to other hosts than `hosts` do not get them. Errors and logs show no values of a query, and
/// hide values of six bytes and more where a server repeats them.
public struct DefaultQueryMiddleware: Middleware {
    /// A closure, so that a dump of the middleware does not show the values.
    private let query: @Sendable () -> QueryParameters
    private let hosts: AllowedHosts

    /// Creates a middleware that adds `query`.
    ///
    /// - Parameters:
    ///   - query: The parameters.
    ///   - hosts: The hosts that get the parameters: `["api.example.com"]`. They get them over `http` only if the base URL is `http`. By
    ///     default, only the scheme, host and port of the provider's base URL get them. A provider without a base URL needs hosts.
    public init(_ query: QueryParameters, hosts: Set<String>? = nil) {
        (self.query, self.hosts) = ({ query }, AllowedHosts(hosts, of: "DefaultQueryMiddleware"))
    }

    /// Passes `request` to `next` with the missing parameters.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard try hosts.contains(request), request.redirects.isEmpty else { return next(request) }
            let own = request.query
            let names = Set(own.map(\.name))
            let missing = query().filter { !names.contains($0.name) }
            var request = request
            request.query = own + QueryParameters(missing)
            // A shorter value, such as "en", may be a segment of the path by chance.
            for value in missing.compactMap(\.value) where value.utf8.count >= 6 { request.hide(value) }
            return next(request)
        } catch {
            return .error(error)
        }
    }
}
