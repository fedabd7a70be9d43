extension HTTPHeaders {
    /// The fields that are kept when a redirect leads to another origin.
    var forOtherOrigins: HTTPHeaders {
        var headers = self
        for (name, _) in self where !RedirectRules.headersAllowedAcrossOrigins.contains(name.lowercased()) { headers[name] = nil }
        return headers
    }
}

enum RedirectRules {
    /// The maximum number of redirects of one request that are followed.
    static let maxRedirects = 20

    /// The header fields of a request that are kept when a redirect leads to another origin, in lower case.
    ///
    /// They say what the client accepts, what the body is, what the client has already, and which requests are the same one. All others may
    /// hold a credential for the first origin under any name.
    ///
    /// Do not merge it with the list in `Redaction`: this one decides who gets a header, that one what logs show.
    static let headersAllowedAcrossOrigins: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection", "content-digest",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range", "content-type", "idempotency-key",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-event-id", "prefer", "range",
        "transfer-encoding", "user-agent",
    ]
}
