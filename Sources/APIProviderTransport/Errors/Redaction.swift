/// The parts of a request and its response that errors, their `userInfo`, log lines, cURL texts and dumps show.
///
/// There are two: ``none`` shows everything, bodies included, and ``standard`` shows this:
///
/// 1. The method, and the URL with `…` for each value of its query, without user, password, fragment and what you wrote as `\(secret:)`.
/// 2. The status code, its reason phrase, and the media type and size of the body.
/// 3. The names of headers, and the values of those that say nothing about a person or a credential, such as `Retry-After`.
/// 4. What the server says went wrong: the message of a JSON body, with the fields that it names and its number, the `Message` of XML, the
///    first line of `text/plain`, or the title of an HTML page. Of a successful response that does not decode, the message is shown only if
///    the body says that it is an error. It is cut to 200 bytes, and the part about its fields to another 200.
///
/// ### Words in messages
///
/// In messages, and in the keys of dictionaries, a word is `…` if it has letters and digits and 12 characters or more, or is a number of
/// more than seven digits, or was sent as a credential: in the query or a header under a name such as `api_key` or `Authorization`, by
/// ``AuthenticationMiddleware`` or ``DefaultQueryMiddleware``, or as `\(secret:)`. Dates, times and versions stay.
///
/// ### Not hidden
///
/// Two kinds of secrets are not hidden: those in a path, unless you write `\(secret:)`, and short or digitless ones in a message of a
/// server or of your own errors, unless the request has sent them as a credential. Recordings keep more, so that their bodies can be
/// decoded: see Record and replay in MockNetworkRecordings.
public struct Redaction: Sendable {
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
