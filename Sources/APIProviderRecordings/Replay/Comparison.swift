import APIProvider
import Foundation
import MiniRx
import MockNetwork

/// A request as it is compared.
struct ComparedRequest: Sendable, Hashable {
    /// Without what is ignored.
    var lines = Lines()
    var cookies: [String: String] = [:]

    /// All texts and numbers, and their places.
    var texts: [(place: Place, texts: [String])] {
        lines.values.map { ($0, $1.compactMap(\.text)) } + cookies.map { (Place("cookie \($0)"), [$1]) }
    }
}

/// What of a request is stored and compared.
struct Comparison: Sendable {
    let names: SecretNames
    /// The names of lines that are not compared: bare names such as `id`, and own names of lines such as `path 2`.
    let ignored: [String]
    /// The names of headers that are stored and compared, too.
    let compared: [String]
    /// Requests that get the last response again, besides GET and HEAD: their paths, or `X-Amz-Target: *.GetItem`.
    let repeated: [String]
    let isForAnyHost: Bool
    private let known = Locked<[Place: Bool]>([:])

    init(
        _ names: SecretNames = SecretNames(), ignoring ignored: [String] = [], comparing compared: [String] = [],
        repeating repeated: [String] = [], forAnyHost isForAnyHost: Bool = false
    ) {
        (self.names, self.ignored, self.compared, self.repeated, self.isForAnyHost) = (names, ignored, compared, repeated, isForAnyHost)
    }

    // MARK: - Headers

    static let conditions: Set = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    private static let stored = conditions.union([
        "accept", "x-amz-target", "soapaction", "x-http-method-override", "content-type", "authorization", "cookie",
    ])
    /// These differ by machine.
    private static let neverVarying: Set = ["*", "accept-encoding", "user-agent", "origin", "authorization", "cookie"]

    /// Whether a header of a request is stored and compared, whatever the response is.
    func stores(header name: String) -> Bool {
        Self.stored.contains(name.lowercased()) || CredentialNames.match(name).map { $0.strength != .nonce } == true
            || names.hidden.contains(name, isHeader: true) || compared.contains { $0.isField(name) }
    }

    /// The headers that a response says that it depends on, in lower case.
    static func varyingHeaders(of response: RecordedExchange.Response?) -> Set<String> {
        let fields = (response?.headers["Vary"] ?? "").lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return Set(fields).subtracting(neverVarying)
    }

    /// The exchange with those headers of its request alone that a file has, and without Base64 in Basic authentication.
    func stored(_ exchange: RecordedExchange) -> RecordedExchange {
        let varying = Self.varyingHeaders(of: exchange.response)
        var exchange = exchange
        for (name, value) in exchange.headers where name.lowercased().hasSuffix("authorization") {
            let (scheme, text) = value.splittingScheme
            if scheme.lowercased() == "basic ", let pair = text.basicPair { exchange.headers[name] = "\(scheme)\(pair.user):\(pair.password)" }
        }
        for (name, _) in exchange.headers where !stores(header: name) && !varying.contains(name.lowercased()) { exchange.headers[name] = nil }
        return exchange
    }

    // MARK: - Lines

    /// A request as lines. A credential is one for its scheme, and one for each of its parts.
    func allLines(of exchange: RecordedExchange, _ placeholders: Placeholders = Placeholders([:])) -> Lines {
        var lines = Lines()
        lines.add(HTTPMethod(rawValue: exchange.method))
        let url = URLParts(placeholders.canonical(exchange.url))
        lines.add(url)
        lines.add(query: url.formQuery)
        for (name, value) in exchange.headers {
            let text = placeholders.canonical(value)
            if name.lowercased().hasSuffix("authorization") {
                lines.add(authorization: text.trimmingCharacters(in: .whitespaces), name.lowercased())
            } else if name.isField("Content-Type") {
                if !exchange.body.isEmpty { lines.add(header: name, text.mediaType) }
            } else {
                lines.add(header: name, text)
            }
        }
        lines.add(body: placeholders.canonical(exchange.body), type: exchange.type)
        return lines
    }

    /// Made anew in each request by a scheme that signs it, or by the clock.
    private static let signatures = Expression(
        #"^header .*authorization\.(credential|signature|response|cnonce|nc|oauth_(nonce|timestamp|signature))$|^query x-(amz|goog)-date$"#,
        isCaseSensitive: false)

    func request(_ exchange: RecordedExchange, _ placeholders: Placeholders) -> ComparedRequest {
        var request = ComparedRequest(lines: allLines(of: exchange, placeholders))
        request.lines.removeAll { place in
            isIgnored(place) || (place.isHeader || place.text.hasPrefix("query ")) && !Self.signatures.matches(in: place.text).isEmpty
        }
        for (place, values) in request.lines.values where place.text.hasPrefix("cookie ") {
            request.cookies[String(place.text.dropFirst("cookie ".count))] = values.first?.text
        }
        request.lines.removeAll { $0.text.hasPrefix("cookie ") }
        return request
    }

    private func isIgnored(_ place: Place) -> Bool {
        guard !ignored.isEmpty else { return false }
        if let isIgnored = known.withLock({ $0[place] }) { return isIgnored }
        let isIgnored = ignored.contains { place.isNamed($0) }
        known.withLock { $0[place] = isIgnored }
        return isIgnored
    }

    // MARK: - Repeating

    /// Whether a request may get a response again that it has had.
    func mayRepeat(_ exchange: RecordedExchange) -> Bool {
        if ["GET", "HEAD"].contains(exchange.method) || exchange.isGraphQLQuery { return true }
        let path = URLParts(exchange.url).path
        return repeated.contains { pattern in
            guard let colon = pattern.range(of: ": ") else { return path.matches(pattern) }
            return exchange.headers[String(pattern[..<colon.lowerBound])]?.matches(String(pattern[colon.upperBound...])) == true
        }
    }
}

extension Lines {
    /// Adds the scheme, and what it says: the user and the password of Basic authentication, the parameters of another scheme, or a token.
    fileprivate mutating func add(authorization value: String, _ name: String) {
        let parts = "\(value) ".splittingScheme.text.isEmpty ? [value[...], ""] : value.split(separator: " ", maxSplits: 1)
        let (scheme, rest) = parts.count == 2 ? (String(parts[0]), String(parts[1])) : ("", value)
        func add(_ text: String, _ part: String) { self.add(Value(.text(text)), at: Place("header \(name)\(part)")) }
        add(scheme, ".scheme")
        let parameters = rest.authorizationParameters
        if scheme.lowercased() == "basic" {
            // A text that is no pair is a dummy for both.
            let halves = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let pair = rest.basicPair ?? (user: halves.first ?? "", password: halves.last ?? "")
            add(pair.user, ".user")
            add(pair.password, ".password")
        } else if parameters.isEmpty {
            add(rest, "")
        } else {
            for (name, text) in parameters { add(text, ".\(name)") }
        }
    }
}

extension RecordedExchange {
    /// Whether it is an operation of GraphQL that changes nothing.
    fileprivate var isGraphQLQuery: Bool {
        struct Operation: Decodable { let query: String }
        guard method == "POST", type.mediaType.hasSuffix("json"), let operation = try? JSONDecoder().decode(Operation.self, from: body) else {
            return false
        }
        let text = operation.query.trimmingCharacters(in: .whitespacesAndNewlines)
        return ["query", "{", "fragment"].contains { text.hasPrefix($0) } && Self.change.matches(in: text).isEmpty
    }

    private static let change = Expression(#"\}\s*(?:mutation|subscription)\b"#)
}

extension String {
    /// Whether the text has this form, in which `*` stands for any characters.
    fileprivate func matches(_ pattern: String) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false).map { NSRegularExpression.escapedPattern(for: String($0)) }
        return range(of: "^\(pieces.joined(separator: ".*"))$", options: .regularExpression) != nil
    }
}

extension String {
    /// The user and the password of Basic authentication (RFC 7617).
    var basicPair: (user: String, password: String)? {
        guard let data = Data(base64Encoded: self), let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":") else {
            return nil
        }
        return (String(text[..<colon]), String(text[colon...].dropFirst()))
    }

    /// The parameters of a scheme such as Digest, in their order.
    fileprivate var authorizationParameters: [(name: String, value: String)] {
        guard utf8.contains(where: { ",\"".utf8.contains($0) }) else { return [] }
        return Self.parameter.matches(in: self).compactMap { match in
            match[1].flatMap { name in (match[2] ?? match[3]).map { (name.text, $0.text) } }
        }
    }

    private static let parameter = Expression(#"([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))"#)
}
