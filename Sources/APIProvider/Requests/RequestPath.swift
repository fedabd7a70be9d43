public import Foundation

/// A request's path, as plain text. The text is escaped when the URL is built.
///
/// ```swift
/// "/search/repositories"
/// "/repos/\(owner)/\(name)"
/// "/repos/\(path: "apple/swift")/issues"
/// "/bot\(secret: token)/getMe"
/// .url(nextPage)
/// ```
///
/// ### Values
///
/// An interpolated value is one segment. In `"/repos/\(owner)/\(name)"`, a slash in `name` becomes `%2F`. With the label `path:`, slashes
/// separate segments.
///
/// An empty value makes the request invalid, so `"/users/\(login)"` never becomes `/users/`.
///
/// Middlewares see exactly the sent path. So a segment `.` or `..` makes the request invalid, even in the base URL and in the URL of
/// ``url(_:_:)``, and so does a path beginning with two slashes.
///
/// ### Literals
///
/// A literal with a `?`, a `#` or an escape such as `%20` makes the request invalid, because these characters would be escaped. Put a query
/// into the endpoint's `query`. A literal beginning like a URL, such as `"https://"`, is invalid, too. For a whole URL, already escaped,
/// write ``url(_:_:)``.
public struct RequestPath: ExpressibleByStringInterpolation, Sendable {
    /// The URL before this path. `nil` is the provider's base URL.
    @HiddenFromReflection package private(set) var url: URL?
    @HiddenFromReflection package private(set) var percentEncoded: String
    /// The path without secrets.
    let redacted: String
    /// The texts hidden in ``redacted``.
    @HiddenFromReflection private(set) var secrets: [String]
    /// Why no URL can be built with this path; `nil` for a valid one.
    private(set) var problem: String?

    /// Creates a path from the text `path`. Slashes separate segments, and all other special characters are escaped.
    ///
    /// In a variable, `?` is escaped. With a literal, as in `RequestPath("/a?b")`, Swift calls `init(stringLiteral:)` (SE-0213), and the
    /// request is invalid.
    public init(_ path: String) { self.init(percentEncoded: path.escapedAsPath, problem: nil) }

    /// Creates a path from the literal `path`. Slashes separate segments.
    public init(stringLiteral path: String) {
        self.init(percentEncoded: path.escapedAsPath, problem: Self.problem(of: path))
    }

    /// Creates a path with interpolated segments.
    public init(stringInterpolation: StringInterpolation) {
        self.init(
            percentEncoded: stringInterpolation.percentEncoded, redacted: stringInterpolation.redacted,
            problem: stringInterpolation.problem, secrets: stringInterpolation.secrets)
    }

    private init(percentEncoded: String, redacted: String? = nil, problem: String?, secrets: [String] = []) {
        (self.percentEncoded, self.secrets) = (percentEncoded, secrets)
        self.redacted = redacted ?? percentEncoded
        let hasEmptyStart = percentEncoded.hasPrefix("//")
        self.problem = problem ?? (hasEmptyStart ? "its path \"\(self.redacted)\" begins with two slashes; write one" : nil)
    }

    /// The URL `url`, such as a next page's in a `Link` header, with `path` appended.
    ///
    /// The URL's escapes and query stay unchanged. The fragment is dropped.
    public static func url(_ url: URL, _ path: RequestPath = "") -> RequestPath {
        var path = path
        if path.url != nil { path.problem = "its path has a URL within a URL" }
        path.url = url
        return path
    }

    // MARK: - Interpolation

    /// Collects an interpolated path's parts.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        @HiddenFromReflection fileprivate var percentEncoded = ""
        /// The path without secrets.
        fileprivate var redacted = ""
        @HiddenFromReflection fileprivate var secrets: [String] = []
        fileprivate var problem: String?

        /// Starts an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the text of `literal`. Slashes separate segments.
        public mutating func appendLiteral(_ literal: String) {
            problem = problem ?? RequestPath.problem(of: literal, after: redacted)
            append(literal.escapedAsPath)
        }

        /// Appends the description of `segment` as one segment, even with slashes inside.
        public mutating func appendInterpolation(_ segment: some CustomStringConvertible) {
            append(encoded(segment.description))
        }

        /// Appends `date` as one segment, as in a query: `2026-11-21T09:30:00.250Z` (ISO 8601, rounded to milliseconds).
        public mutating func appendInterpolation(_ date: Date) { append(encoded(date.iso8601)) }

        /// Appends the raw value of `value` as one segment. A value with a description is appended as that.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value) where Value.RawValue: CustomStringConvertible {
            append(encoded(value.rawValue.description))
        }

        /// Appends `segments`, separated by slashes: `"/repos/\(path: "apple/swift")/issues"`. An empty segment makes the request invalid.
        public mutating func appendInterpolation(path segments: some CustomStringConvertible) {
            let parts = segments.description.parts(between: UInt8(ascii: "/"))
            if parts.contains(where: \.isEmpty), !segments.description.isEmpty {
                problem = problem ?? "the path interpolated after \"\(redacted)\" has an empty segment; it must not begin or end in a slash"
            }
            append(parts.map { encoded(String($0)) }.joined(separator: "/"))
        }

        /// Appends `segment` as one segment, hidden in errors, logs and recordings: `"/bot\(secret: token)/getMe"`.
        ///
        /// They show `…` instead, even where a server's answer to the request repeats the text. Text of fewer than six bytes is hidden only
        /// in the path, because short text may occur elsewhere by chance. The text is not hidden in a request that you create from this
        /// one's URL, or send with your own `URLSession`.
        public mutating func appendInterpolation(secret segment: some CustomStringConvertible) {
            secrets.append(segment.description)
            append(encoded(segment.description), redactedAs: "…")
        }

        private mutating func encoded(_ text: String) -> String {
            if text.isEmpty { problem = problem ?? "a value interpolated into the path after \"\(redacted)\" is empty" }
            return text.escapedAsValue
        }

        private mutating func append(_ text: String, redactedAs other: String? = nil) {
            percentEncoded += text
            redacted += other ?? text
        }
    }
}

extension RequestPath: CustomStringConvertible {
    /// The sent path, without secrets and without a URL's query values.
    public var description: String {
        url.map { url in redacted.isEmpty ? url.redacted : "\(url.redacted) + \(redacted)" } ?? redacted
    }
}

// MARK: - Literals

extension RequestPath {
    /// Why a literal would not be sent as written; `nil` for a valid one.
    fileprivate static func problem(of literal: String, after start: String = "") -> String? {
        // For the C library, a NUL ends the text.
        guard literal.withCString({ strpbrk($0, "?#%:") != nil || strlen($0) < literal.utf8.count }) else { return nil }
        let path = "its path \"\(RequestSecrets().redacted(url: "\(start)\(literal)"))\""
        if literal.hasScalars("?") { return "\(path) has a \"?\"; put what follows it into query" }
        if literal.hasScalars("#") { return "\(path) has a \"#\"; a fragment is never sent, so leave it out" }
        if start.isEmpty, literal.drop(while: { $0.isLetter || $0.isNumber || "+-.".contains($0) }).hasPrefix("://") {
            return "\(path) is a URL; write .url(_:) for a whole URL"
        }
        let pieces = literal.parts(between: UInt8(ascii: "%"))
        let starts = pieces.dropFirst().map { $0.unicodeScalars.prefix(2) }
        guard let escape = starts.first(where: { $0.count == 2 && $0.allSatisfy(\.properties.isASCIIHexDigit) }) else { return nil }
        return "\(path) has the escape \"%\(Substring(escape))\"; write plain text, which is escaped for you, or .url(_:) for a whole URL"
    }
}
