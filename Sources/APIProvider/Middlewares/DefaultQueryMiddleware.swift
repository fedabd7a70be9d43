public import MiniRx

/// Adds parameters to the query of each request, such as the key of an API.
///
/// ```swift
/// DefaultQueryMiddleware(["appid": token, "lang": "en"])
/// ```
///
/// A parameter that the query of a request already has is not added, so the URL of a next page gets none twice. All other parameters of the
/// URL keep their bytes. A request that a redirect leads to keeps the query that the server has given it.
///
/// The parameters are for one API: requests to other hosts than `hosts` do not get them. Errors and logs show no value of a query, and they
/// hide the values of six bytes and more wherever a server repeats them.
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

    /// Passes `request` to `next` with the parameters that it does not have.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard try hosts.contains(request), request.redirects.isEmpty else { return next(request) }
            let own = request.query
            let names = Set(own.map(\.name))
            let missing = query().filter { !names.contains($0.name) }
            var request = request
            request.query = own + QueryParameters(missing)
            // A shorter one, such as "en", may be a segment of the path by chance.
            for value in missing.compactMap(\.value) where value.utf8.count >= 6 { request.hide(value) }
            return next(request)
        } catch {
            return .error(error)
        }
    }
}
