/// The visible parts of a request and its response in errors, their `userInfo`, log lines, cURL texts and dumps.
///
/// There are two: ``none`` shows everything, and ``standard`` shows this:
///
/// 1. The method, and the URL with `…` for each query value, without user, password, fragment and `\(secret:)` segments.
/// 2. The status code, the reason phrase, and the body's media type and size.
/// 3. The names of headers, and values without a person's data or a credential, such as `Retry-After`.
/// 4. With a status of 400 or more, the server's own message: one line of at most 200 characters. No error text contains a body.
///
/// A request's secrets of six bytes or more are `…` in each text: `\(secret:)` segments, secrets marked by a middleware, `Authorization`
/// and cookies, and values in its headers and query under a name such as `api_key`.
///
/// ### Not hidden
///
/// A secret in a path, unless you write `\(secret:)`; in a server's message, a secret from the request's body alone, or in another
/// spelling; and one of fewer than six bytes, unless the secret is a whole path segment.
public struct Redaction: Sendable, Hashable {
    /// Hides data that may identify a person or contain a credential.
    public static let standard = Redaction(showsEverything: false)
    /// Shows everything. The result is as secret as the request.
    public static let none = Redaction(showsEverything: true)

    let showsEverything: Bool

    /// Whether a header's value neither identifies a person nor contains a credential.
    package static func isHarmless(header name: String) -> Bool { harmlessHeaders.contains(name.lowercased()) }

    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "cache-control", "connection",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range", "content-type", "date",
        "deprecation", "etag", "expires", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "last-modified", "range", "ratelimit", "ratelimit-limit", "ratelimit-policy", "ratelimit-remaining", "ratelimit-reset",
        "retry-after", "server", "sunset", "traceparent", "transfer-encoding", "user-agent", "vary", "warning", "x-github-request-id",
        "x-page", "x-per-page",
        "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource", "x-ratelimit-used", "x-request-id",
        "x-total",
        "x-total-count", "x-total-pages",
    ]
}
