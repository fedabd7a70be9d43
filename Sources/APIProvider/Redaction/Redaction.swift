/// What errors, log lines, cURL texts, dumps, recordings and reports of mocks show of a request and its response.
///
/// Nothing is searched for secrets. What is known to be harmless is shown, and everything else is `…`:
///
/// - Headers: the values of some thirty fields, such as `Content-Type` and `Retry-After`. Of other fields, the name.
/// - URLs: scheme, host, port, path, and the names of query items. Path segments written as `\(secret:)` are left out.
/// - JSON and forms: names and structure. Text and numbers are shown in a response under the names in which servers say what went wrong,
///   such as `message` and `error_description`. Words that look like a token are left out of that text.
/// - Other bodies: the type and the size. One line of `text/plain` in a response is shown like a message.
/// - Recordings must decode again. They keep the values of queries and of JSON and forms in responses, but not those under names such as
///   `password` and `access_token`. See `RecordingMiddleware` in MockNetwork.
/// - A redirect to another origin keeps the headers whose values are shown, and no others.
///
/// A secret in a path, or one of letters alone in an error message, is shown. To show more, name it:
///
/// ```swift
/// LoggingMiddleware(
///     .bodies, redacting: .standard.showing("id", "X-Request-ID", "text/csv"))
/// ```
public struct Redaction: Sendable {
    /// Shows what is known to be harmless.
    public static let standard = Redaction(names: [])
    /// Shows everything. The result is as secret as the request.
    public static let none = Redaction(names: nil)

    /// What is shown beside what is harmless, in lower case. `nil` is everything.
    private let names: Set<String>?

    /// Returns a redaction that also shows what has one of `names`, in upper or lower case: headers, query items, fields, cookies, and bodies
    /// of a media type such as `text/csv`.
    public func showing(_ names: String...) -> Redaction { Redaction(names: self.names?.union(names.map { $0.lowercased() })) }

    var showsEverything: Bool { names == nil }

    /// Whether the author has asked for values of this name.
    func shows(_ name: @autoclosure () -> String) -> Bool { names.map { !$0.isEmpty && $0.contains(name().lowercased()) } ?? true }

    func showsHeader(_ name: String) -> Bool { Self.isHarmless(header: name) || shows(name) }
}

extension Redaction {
    /// Whether the value of a header says nothing of a person or a credential.
    static func isHarmless(header name: String) -> Bool { harmlessHeaders.contains(name.lowercased()) }

    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "cache-control", "connection",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range", "content-type", "date",
        "deprecation",
        "etag", "expires", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "range",
        "ratelimit", "ratelimit-limit", "ratelimit-policy", "ratelimit-remaining", "ratelimit-reset", "retry-after", "server", "sunset",
        "transfer-encoding", "user-agent", "vary", "warning", "x-page", "x-per-page", "x-ratelimit-limit", "x-ratelimit-remaining",
        "x-ratelimit-reset", "x-ratelimit-resource", "x-ratelimit-used", "x-total", "x-total-count", "x-total-pages",
    ]

    /// Whether servers say what went wrong under this name (RFC 9457, RFC 6749, JSON:API, GraphQL, and what is common beside them).
    static func isMessage(_ name: some Sequence<UInt8>) -> Bool { messageNames.contains(letters(of: name)) }

    /// Whether messages stand below this name, each under the name of what it is about: `{"errors":{"password":["is too short"]}}`.
    static func holdsMessages(_ name: some Sequence<UInt8>) -> Bool { errorNames.contains(letters(of: name)) }

    private static let errorNames = words("error errors messages")

    private static let messageNames = words(
        """
        attribute category code column constraint description detail details developermessage docurl documentationurl domain
        error errorcode errorcodes errordescription errorlist errormessage errormessages errors errortype erroruri exception
        expected explanation fault faultcode faultstring field helpurl hint instance kind line loc message messages moreinfo msg
        param parameter path pointer problem property reason reasons resource retryafter severity status statuscode
        statusmessage statustext subcode suggestion title type usermessage violations
        """)

    private static func letters(of name: some Sequence<UInt8>) -> [UInt8] { name.lazy.map(\.lowercased).filter(\.isLowercaseLetter) }
}
