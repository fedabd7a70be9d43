/// The hosts that a credential is for: those that the app names, or else the origin of the provider's base URL.
struct CredentialHosts: Sendable {
    private let hosts: Set<String>?
    private let middleware: String

    /// - Parameter middleware: The name of the middleware, for errors.
    init(_ hosts: Set<String>?, of middleware: String) {
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        self.middleware = middleware
    }

    /// Whether neither the app nor a base URL names them.
    func areUnknown(for request: PreparedRequest) -> Bool { hosts == nil && request.context?.baseURL == nil }

    /// Whether `request` goes to one of them. Over `http`, it does only if the base URL is `http`, too.
    func include(_ request: PreparedRequest) throws -> Bool {
        let (url, baseURL) = (request.url, request.context?.baseURL)
        guard let hosts else {
            guard let baseURL else {
                throw APIError.invalid(
                    "its \(middleware) does not know which hosts it is for; give it hosts:, or give the provider a baseURL:")
            }
            // Another origin that redirects back here has chosen the URL.
            return url.origin == baseURL.origin && !request.hasLeftOrigin
        }
        if let entry = hosts.first(where: { $0.contains("/") || $0.contains(":") && !$0.contains("[") }) {
            throw APIError.invalid("\"\(entry)\" in the hosts of \(middleware) is not a host; write it as \"api.example.com\"")
        }
        return hosts.contains(url.host?.lowercased() ?? "")
            && (url.origin.hasPrefix("https:") || baseURL?.origin.hasPrefix("http:") == true)
    }
}
