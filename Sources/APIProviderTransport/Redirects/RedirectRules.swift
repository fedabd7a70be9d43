extension HTTPHeaders {
    /// The fields to keep for a redirect to another origin.
    var withoutCredentials: HTTPHeaders {
        var headers = self
        for (name, _) in self where !RedirectRules.headersAllowedAcrossOrigins.contains(name.lowercased()) { headers[name] = nil }
        return headers
    }
}

enum RedirectRules {
    /// The maximum number of redirects followed for one request.
    static let maxRedirects = 20

    /// The lowercase header fields to keep for another origin.
    ///
    /// These describe accepted responses, the body, the client's stored response, and equal requests. Any other field may hold a credential
    /// for the first origin.
    ///
    /// Do not merge this list with the one in `Redaction`: this is about receivers of headers, that about logs.
    static let headersAllowedAcrossOrigins: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection", "content-digest",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range", "content-type", "idempotency-key",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-event-id", "prefer", "range",
        "transfer-encoding", "user-agent",
    ]
}
