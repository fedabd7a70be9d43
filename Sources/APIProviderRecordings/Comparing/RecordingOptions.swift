import APIProvider
import APIProviderMocks
import Foundation

/// What recordings of one API hide, ignore and compare.
///
/// Write the options once, and give them to each test of the API:
///
/// ```swift
/// extension RecordingOptions {
///     static let shop = RecordingOptions(hiding: ["card"], ignoring: ["sent_at"])
/// }
///
/// @Test(.mockNetwork(recording: "orders", .shop)) func orders() async throws {
///     let provider = DefaultAPIProvider(
///         baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
///     _ = try await provider.request(Endpoint<Data>(.get, "/orders")).value
/// }
/// ```
public struct RecordingOptions: Sendable {
    /// Names with secret values, exactly as written. Header names are case-insensitive.
    let hidden: [String]
    let kept: [String]
    /// Lines to ignore: bare names such as `id`, and lines' own names such as `path 2`.
    let ignored: [String]
    let compared: [String]
    /// Requests with the last response again, besides GET and HEAD: paths, or `X-Amz-Target: *.GetItem`.
    let repeated: [String]
    let isForAnyHost: Bool
    let edit: @Sendable (inout RecordedExchange) -> Void
    let rules = Locked<[[String]: (key: [String], rule: NameRule)]>([:])
    /// Whether another program sent the requests, with its own headers.
    private(set) var isFromOtherProgram = false
    /// The compared headers, besides those that the test names, in lower case.
    private var headers = conditions.union(operations).union(["authorization", "content-type", "cookie"])

    /// Creates options. Most tests need none, or the first three.
    ///
    /// - Parameters:
    ///   - hidden: Names of headers, query items, members, fields and cookies with secret values, including everything below them.
    ///   - ignored: Names of lines to ignore, such as `id`, `path 2` and `photo.filename`.
    ///   - edit: Changes each exchange before it is written. Runs while recording, and does not change the test's responses.
    ///   - kept: Exact names without secret values.
    ///   - compared: Other headers to store and compare.
    ///   - repeated: Requests safe to send again: paths such as `/v1/*:runQuery`, or `X-Amz-Target: *.GetItem`.
    ///   - isForAnyHost: Whether the recording also answers requests to other hosts, schemes and ports.
    public init(
        hiding hidden: [String] = [], ignoring ignored: [String] = [],
        editing edit: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }, keeping kept: [String] = [],
        comparing compared: [String] = [], repeating repeated: [String] = [], forAnyHost isForAnyHost: Bool = false
    ) {
        (self.hidden, self.ignored, self.edit, self.kept) = (hidden, ignored, edit, kept)
        (self.compared, self.repeated, self.isForAnyHost) = (compared, repeated, isForAnyHost)
    }

    // MARK: - Headers

    private static let conditions: Set = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    private static let operations: Set = ["accept", "x-amz-target", "soapaction", "x-http-method-override"]

    /// The places of the conditions among a request's lines.
    static let conditionPlaces = Set(conditions.map { "header \($0)" })

    /// Whether the conditions of this request count. The cache of a browser or of the app may have sent those of an ordinary response.
    static func comparesConditions(of exchange: RecordedExchange) -> Bool {
        guard let response = exchange.response, ["GET", "HEAD"].contains(exchange.method) else { return true }
        return [206, 304, 412, 416].contains(response.statusCode)
    }

    /// Whether a request's header is stored and compared.
    func stores(header name: String) -> Bool {
        let key = name.lowercased()
        if headers.contains(key) || compared.contains(where: name.isField) { return true }
        return !isFromOtherProgram && (CredentialNames.contains(key) || hidden.contains(where: name.isField))
    }

    /// These options, with the headers in the responses' `Vary`.
    func varying(with exchanges: [RecordedExchange]) -> RecordingOptions {
        let names = exchanges.compactMap { $0.response?.headers["Vary"] }.flatMap { $0.lowercased().parts(between: UInt8(ascii: ",")) }
        var copy = self
        // These differ by machine.
        copy.headers.formUnion(
            Set(names.map { $0.trimmingCharacters(in: .whitespaces) }).subtracting(["*", "accept-encoding", "user-agent", "origin"]))
        return copy
    }

    /// These options, for another program's file: only headers that tell two requests to one URL apart count.
    func forOtherProgram(_ exchanges: [RecordedExchange]) -> RecordingOptions {
        let groups = Dictionary(grouping: exchanges) { [$0.method, $0.url] }.values
        var copy = varying(with: exchanges)
        copy.headers = copy.headers.subtracting(["authorization"]).filter { name in
            Self.conditions.contains(name) || ["cookie", "content-type"].contains(name)
                || groups.contains { group in Set(group.map { Array(($0.headers[name] ?? "").utf8) }).count > 1 }
        }
        copy.isFromOtherProgram = true
        return copy
    }

    /// The exchange with the stored request headers alone, and without Base64 in Basic authentication.
    func stored(_ exchange: RecordedExchange) -> RecordedExchange {
        var exchange = exchange
        for (name, value) in exchange.headers {
            let (scheme, text) = value.splittingScheme
            if !stores(header: name) {
                exchange.headers[name] = nil
            } else if name.isAuthorization, scheme.lowercased().hasPrefix("basic"), let pair = text.basicPair {
                exchange.headers[name] = "\(scheme)\(pair.user):\(pair.password)"
            }
        }
        return exchange
    }

    // MARK: - Lines

    /// A request's lines. A credential has a line for the scheme, and one for each part.
    func lines(of exchange: RecordedExchange, _ placeholders: Placeholders = Placeholders([:])) -> Lines {
        let url = URLParts(placeholders.canonical(exchange.url))
        let headers = stored(exchange).headers.flatMap { name, value -> [(name: String, value: String)] in
            let text = placeholders.canonical(value)
            if name.isField("Content-Type"), exchange.body.isEmpty || isFromOtherProgram { return [] }
            if name.isAuthorization {
                return text.trimmingCharacters(in: .whitespaces).partsOfCredential.map { ("\(name)\($0.part)", $0.text) }
            }
            return [(name, name.isField("Content-Type") ? text.mediaType : text)]
        }
        return Lines(
            method: HTTPMethod(rawValue: exchange.method), url, query: url.formQuery, headers: headers,
            body: placeholders.canonical(exchange.body), type: exchange.type)
    }

    /// The compared lines, without those that the test ignores.
    func request(_ exchange: RecordedExchange, _ placeholders: Placeholders) -> Lines {
        let values = lines(of: exchange, placeholders).values
        // An array's elements have one general place, to be compared once.
        let places = Set(ignored.isEmpty ? [] : values.keys.map(\.general)).filter { place in ignored.contains { place.isPlace(named: $0) }
        }
        return Lines(values.filter { place, _ in !place.isSignature && (places.isEmpty || !places.contains(place.general)) })
    }

    // MARK: - Repeating

    /// Whether a request may get its last response again.
    func mayRepeat(_ exchange: RecordedExchange) -> Bool {
        if ["GET", "HEAD"].contains(exchange.method) || exchange.isGraphQLQuery { return true }
        let path = URLParts(exchange.url).path
        return repeated.contains { pattern in
            guard let colon = pattern.range(of: ": ") else { return path.matches(pattern) }
            return exchange.headers[String(pattern[..<colon.lowerBound])]?.matches(String(pattern[colon.upperBound...])) == true
        }
    }
}

extension RecordedExchange {
    /// Whether this is a GraphQL query.
    fileprivate var isGraphQLQuery: Bool {
        guard method == "POST", type.mediaType.hasSuffix("json"), let query = Lines(json: body)?.texts(at: "query").first else {
            return false
        }
        let text = query.trimmingCharacters(in: .whitespacesAndNewlines)
        return ["query", "{", "fragment"].contains { text.hasPrefix($0) } && Self.change.matches(in: text).isEmpty
    }

    private static let change = Expression(#"\b(?:mutation|subscription)\b"#)
}

extension String {
    /// Whether the line at this place is a cookie.
    var isCookie: Bool { utf8.starts(with: "cookie ".utf8) }

    fileprivate var isAuthorization: Bool { lowercased().hasSuffix("authorization") }

    /// Whether a signing scheme or the clock changes the line at this place in each request.
    fileprivate var isSignature: Bool {
        let place = lowercased()
        let parts = ["credential", "signature", "response", "cnonce", "nc", "oauth_nonce", "oauth_timestamp", "oauth_signature"]
        return place.hasPrefix("header ") && parts.contains { place.hasSuffix("authorization.\($0)") } || place == "query x-amz-date"
            || place == "query x-goog-date"
    }

    /// The scheme, and its parts: Basic's user and password, another scheme's parameters, or a token.
    fileprivate var partsOfCredential: [(part: String, text: String)] {
        let parts = "\(self) ".splittingScheme.text.isEmpty ? [self[...], ""] : split(maxSplits: 1) { $0 == " " || $0 == "\t" }
        let (scheme, rest) = parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : ("", self)
        if scheme.lowercased() == "basic" {
            // Without a colon, the text is a dummy for both.
            let pair = rest.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map { Array($0).text }
            return [(".scheme", scheme), (".user", pair.first ?? ""), (".password", pair.last ?? "")]
        }
        let parameters = rest.utf8.contains(where: { ",\"".utf8.contains($0) }) ? Self.parameter.matches(in: rest) : []
        let others = parameters.map { (".\($0[1] ?? "")", $0[2] ?? $0[3] ?? "") }
        return [(".scheme", scheme)] + (others.isEmpty ? [("", rest)] : others)
    }

    private static let parameter = Expression(#"([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))"#)

    /// Whether the text matches this pattern. `*` stands for any characters.
    fileprivate func matches(_ pattern: String) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false).map {
            NSRegularExpression.escapedPattern(for: String($0))
        }
        return range(of: "^\(pieces.joined(separator: ".*"))$", options: .regularExpression) != nil
    }
}
