import Foundation

/// The hosts for a middleware's headers or parameters: the app's, or else the base URL's origin.
struct AllowedHosts: Sendable {
    private let hosts: Set<String>?
    private let middleware: String

    /// - Parameter middleware: The middleware's name, for errors.
    init(_ hosts: Set<String>?, of middleware: String) {
        self.hosts = hosts.map { Set($0.map(\.hostWithoutBrackets)) }
        self.middleware = middleware
    }

    /// Whether neither the app nor a base URL names a host.
    func areUnspecified(for request: PreparedRequest) -> Bool { hosts == nil && request.baseURL == nil }

    /// Whether `request` goes to one of the hosts. Over `http`, only if the base URL is `http`, too.
    ///
    /// A request redirected here from another host, or over `http`, does not count: that host, or someone in between, chose the URL.
    func contains(_ request: PreparedRequest) throws -> Bool {
        let (url, baseURL) = (request.url, request.baseURL)
        guard let hosts else {
            guard let baseURL else {
                throw APIError.invalidRequest(
                    reason: "its \(middleware) does not know which hosts it is for; give it hosts:, or give the provider a baseURL:")
            }
            return url.origin == baseURL.origin && !request.hasLeftOrigin
        }
        if let entry = hosts.first(where: { !$0.isHost }) {
            throw APIError.invalidRequest(
                reason: "\"\(entry)\" in the hosts of \(middleware) is not a host; write it as \"api.example.com\"")
        }
        return (request.redirects + [url]).allSatisfy {
            hosts.contains($0.host?.hostWithoutBrackets ?? "")
                && ($0.origin.hasPrefix("https:") || baseURL?.origin.hasPrefix("http:") == true)
        }
    }
}

extension String {
    /// The host in lowercase. In a URL, an IPv6 address has brackets.
    fileprivate var hostWithoutBrackets: String {
        let hasBrackets = hasPrefix("[") && hasSuffix("]")
        return (hasBrackets ? String(dropFirst().dropLast()) : self).lowercased()
    }

    /// Whether the text is a host's name or address, and no URL, path or pattern.
    fileprivate var isHost: Bool {
        var address = in6_addr()
        let isName = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
        return isName || inet_pton(AF_INET6, self, &address) == 1
    }
}
