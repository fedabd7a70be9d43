/// The parts of a request and its response that errors, their `userInfo`, log lines, cURL texts and dumps show.
///
/// There are two: ``none`` shows everything, and ``standard`` shows this:
///
/// 1. The method, and the URL with `…` for each value of its query, without user, password, fragment and what you wrote as `\(secret:)`.
/// 2. The status code, its reason phrase, and the media type and size of the body.
/// 3. The names of headers, and the values of those that say nothing about a person or a credential, such as `Retry-After`.
/// 4. With a status of 400 or more, the server's own message: one line of at most 200 characters. No text of an error has a body.
///
/// What the request holds as a secret is `…` in each text, if it has six bytes or more: what you wrote as `\(secret:)`, what a middleware
/// marked, its `Authorization` and cookies, and what it sends in a header or the query under a name such as `api_key`.
///
/// ### Not hidden
///
/// A secret in a path, unless you write `\(secret:)`; a secret that only the body of the request holds, or in another spelling, if the server
/// repeats it in its message; and one of fewer than six bytes, unless it is a whole segment of the path.
public struct Redaction: Sendable, Hashable {
    /// Hides what may identify a person or contain a credential.
    public static let standard = Redaction(showsEverything: false)
    /// Shows everything. The result is as secret as the request.
    public static let none = Redaction(showsEverything: true)

    package let showsEverything: Bool

    /// Whether the value of a header neither identifies a person nor contains a credential.
    package static func isHarmless(header name: String) -> Bool { harmlessHeaders.contains(name.lowercased()) }

    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "cache-control", "connection",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range", "content-type", "date",
        "deprecation", "etag", "expires", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "last-modified", "range", "ratelimit", "ratelimit-limit", "ratelimit-policy", "ratelimit-remaining", "ratelimit-reset",
        "retry-after", "server", "sunset", "transfer-encoding", "user-agent", "vary", "warning", "x-page", "x-per-page",
        "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource", "x-ratelimit-used", "x-total",
        "x-total-count", "x-total-pages",
    ]
}
