public import APIProviderTransport
import Foundation

extension RequestOptions {
    /// Whether a `GET` or `HEAD` may have a body, for servers that want one.
    ///
    /// ```swift
    /// Endpoint<[Item]>(.get, "/search", body: .json(query)).option(\.allowsBody, true)
    /// ```
    ///
    /// The body has no meaning by RFC 9110, section 9.3.1, and caches and proxies may drop it. Only an ``AsyncHTTPClientTransport`` reads
    /// this option. `URLSession` sends no such request.
    public var allowsBody: Bool {
        get { self[BodyKey.self] }
        set { self[BodyKey.self] = newValue }
    }
}

private enum BodyKey: RequestOptionKey { static let defaultValue = false }

extension PreparedRequest {
    /// Throws if the client does not know the scheme of the URL.
    func checkScheme() throws {
        guard let scheme = url.scheme, !["http", "https", "http+unix", "https+unix"].contains(scheme.lowercased()) else { return }
        throw APIError.invalidRequest(
            reason: "its URL has the scheme \(scheme); it must be http or https, or for a socket http+unix or https+unix")
    }

    /// Throws if the request has a body that neither its method nor its options allow.
    func checkBody() throws {
        guard body != nil, [.get, .head].contains(method), !options.allowsBody else { return }
        throw APIError.invalidRequest(
            reason: "\(method) has no body: send it with another method, or put the values into the query; if the server wants it, add "
                + #".option(\.allowsBody, true)"#)
    }
}
