public import Foundation

/// The path of a request, as plain text. It is escaped when the URL is built.
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
/// What a middleware sees is what is sent. So a segment `.` or `..` makes the request invalid, also in the base URL and in the URL of
/// ``url(_:_:)``, and so does a path that begins with two slashes.
///
/// ### Literals
///
/// A literal with a `?`, a `#` or an escape such as `%20` makes the request invalid, because these characters would be escaped. Put a query
/// into the endpoint's `query`. A literal that begins like a URL, such as `"https://"`, is invalid too. To use a whole URL, which is
/// already escaped, write ``url(_:_:)``.
public struct RequestPath: ExpressibleByStringInterpolation, Sendable {
    /// The URL that this path is appended to. `nil` is the provider's base URL.
    @HiddenFromReflection package private(set) var url: URL?
    @HiddenFromReflection package private(set) var percentEncoded: String
    /// The path without secrets.
    let redacted: String
    /// The texts that ``redacted`` hides.
    @HiddenFromReflection private(set) var secrets: [String]
    /// The reason why no URL can be built with this path. Otherwise `nil`.
    private(set) var problem: String?

    /// Creates a path from the text `path`. Slashes separate its segments, and all other special characters are escaped.
    ///
    /// Use it with a variable, in which `?` is escaped. With a literal, as in `RequestPath("/a?b")`, Swift calls `init(stringLiteral:)`
    /// (SE-0213), and the request is invalid.
    public init(_ path: String) { self.init(percentEncoded: path.percentEncoded(except: .path), problem: nil) }

    /// Creates a path from the literal `path`. Slashes separate its segments.
    public init(stringLiteral path: String) {
        self.init(percentEncoded: path.percentEncoded(except: .path), problem: Self.problem(of: path))
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

    /// The URL `url`, such as that of the next page in a `Link` header, with `path` appended to its path.
    ///
    /// The escapes and the query of the URL stay as they are. Without a path, so does its fragment, which is not sent.
    public static func url(_ url: URL, _ path: RequestPath = "") -> RequestPath {
        var path = path
        if path.url != nil { path.problem = "its path has a URL within a URL" }
        path.url = url
        return path
    }

    // MARK: - Interpolation

    /// Collects the parts of an interpolated path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        @HiddenFromReflection fileprivate var percentEncoded = ""
        /// The path without secrets.
        fileprivate var redacted = ""
        @HiddenFromReflection fileprivate var secrets: [String] = []
        fileprivate var problem: String?

        /// Starts an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the text of `literal`, whose slashes separate segments.
        public mutating func appendLiteral(_ literal: String) {
            problem = problem ?? RequestPath.problem(of: literal, after: redacted)
            append(literal.percentEncoded(except: .path))
        }

        /// Appends the description of `segment`, in which a slash does not end the segment.
        public mutating func appendInterpolation(_ segment: some CustomStringConvertible) {
            append(encoded(segment.description))
        }

        /// Appends `date` as one segment, as a query has it: `2026-11-21T09:30:00.250Z` (ISO 8601, rounded to milliseconds).
        public mutating func appendInterpolation(_ date: Date) { append(encoded(date.iso8601)) }

        /// Appends the raw value of `value` as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value) where Value.RawValue: CustomStringConvertible {
            append(encoded(value.rawValue.description))
        }

        /// Appends the description of `value`, and not its raw value, as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable & CustomStringConvertible>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            append(encoded(value.description))
        }

        /// Appends `segments`, which slashes separate: `"/repos/\(path: "apple/swift")/issues"`. An empty segment makes the request
        /// invalid.
        public mutating func appendInterpolation(path segments: some CustomStringConvertible) {
            let parts = segments.description.split(separator: "/", omittingEmptySubsequences: false)
            if parts.contains(where: \.isEmpty), !segments.description.isEmpty {
                problem = problem ?? "the path interpolated after \"\(redacted)\" has an empty segment; it must not begin or end in a slash"
            }
            append(parts.map { encoded(String($0)) }.joined(separator: "/"))
        }

        /// Appends `segment`, which no error, log or recording shows, and in which a slash does not end the segment:
        /// `"/bot\(secret: token)/getMe"`.
        ///
        /// They show `…` instead, even where a server's answer to the request repeats the text. Text of fewer than six bytes is hidden in
        /// the path only, because it may occur elsewhere by chance. A request that you create from the URL of this one does not hide the
        /// text, and neither does a request that you send with your own `URLSession`.
        public mutating func appendInterpolation(secret segment: some CustomStringConvertible) {
            secrets.append(segment.description)
            append(encoded(segment.description), redactedAs: "…")
        }

        private mutating func encoded(_ text: String) -> String {
            if text.isEmpty { problem = problem ?? "a value interpolated into the path after \"\(redacted)\" is empty" }
            return text.percentEncoded(except: .unreserved)
        }

        private mutating func append(_ text: String, redactedAs other: String? = nil) {
            percentEncoded += text
            redacted += other ?? text
        }
    }
}

extension RequestPath: CustomStringConvertible {
    /// The path as it is sent, without secrets and without the values in the query of a URL.
    public var description: String {
        url.map { url in redacted.isEmpty ? url.redacted : "\(url.redacted) + \(redacted)" } ?? redacted
    }
}

// MARK: - Literals

extension RequestPath {
    /// The reason why a literal would not be sent as it is written.
    fileprivate static func problem(of literal: String, after start: String = "") -> String? {
        guard literal.withBytes({ [suspect = ASCIISet.suspect] in $0.contains(where: suspect.contains) }) else { return nil }
        let path = "its path \"\(RequestSecrets().redacted(url: "\(start)\(literal)"))\""
        if literal.contains("?") { return "\(path) has a \"?\"; put what follows it into query" }
        if literal.contains("#") { return "\(path) has a \"#\"; a fragment is never sent, so leave it out" }
        if start.isEmpty, literal.drop(while: { $0.isLetter || $0.isNumber || "+-.".contains($0) }).hasPrefix("://") {
            return "\(path) is a URL; write .url(_:) for a whole URL"
        }
        let pieces: [Substring] = literal.split(separator: "%", omittingEmptySubsequences: false)
        let escape = pieces.dropFirst().map { $0.prefix(2) }.first { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
        guard let escape else { return nil }
        return "\(path) has the escape \"%\(escape)\"; write plain text, which is escaped for you, or .url(_:) for a whole URL"
    }
}
