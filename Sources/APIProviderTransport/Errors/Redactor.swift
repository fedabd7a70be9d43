import Foundation

/// Describes a request and the response for a ``Redaction``.
struct Redactor: Sendable {
    let redaction: Redaction
    /// The request's marked secrets.
    let secrets: RequestSecrets
    /// The marked secrets and the request's credentials.
    private let secretsInText: RequestSecrets

    /// - Parameter request: The request with the secrets to hide, if any.
    init(_ redaction: Redaction = .standard, for request: PreparedRequest? = nil) {
        let request = redaction.showsEverything ? nil : request
        (self.redaction, secrets) = (redaction, request?.secrets ?? RequestSecrets())
        secretsInText = request?.secretsInTexts ?? RequestSecrets()
    }

    // MARK: - Requests

    /// `GET https://api.example.com/search?q=…`
    func line(of request: PreparedRequest) -> String { "\(request.method) \(url(request.url))" }

    /// Returns the URL, redacted unless the redaction shows everything.
    func url(_ url: URL) -> String {
        redaction.showsEverything ? url.absoluteString : secrets.redacted(url: url.absoluteString)
    }

    /// Returns the header's value, or `…` if the value may identify a person or contain a credential.
    func header(_ name: String, _ value: String) -> String {
        redaction.showsEverything || Redaction.isHarmless(header: name) ? secrets.redacted(value) : "…"
    }

    // MARK: - Texts

    /// Returns a server's or the app's text without the request's secrets.
    func redacted(_ text: String) -> String { secretsInText.redacted(text) }

    /// Returns the system's text, with URLs redacted like a request's.
    func redactedURLs(in text: String) -> String {
        guard !redaction.showsEverything, text.hasScalars("://") else { return redacted(text) }
        var rest = text[...], shown = ""
        for match in Self.url?.matches(in: text, range: NSRange(location: 0, length: text.utf16.count)) ?? [] {
            guard let url = match.range.indices(in: text) else { continue }
            shown += text[rest.startIndex..<url.lowerBound] + secrets.redacted(url: String(text[url]))
            rest = text[url.upperBound...]
        }
        return redacted(shown + rest)
    }

    private static let url = try? NSRegularExpression(pattern: #"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s"'<>]+"#)

    /// Returns a server's or the app's words about a response, on one line of at most 200 characters.
    func message(_ text: String) -> String {
        // Redact first, so that the cut leaves no part of a secret.
        let text = redacted(text)
        let start = text.prefix(200)
        return (start.endIndex == text.endIndex ? text : start.dropLast() + "…").onOneLine.cut(to: 1_000)
    }

    /// A body's media type and size: `(text/html, 5,120 bytes)`.
    func size(_ count: Int, type: String?) -> String {
        let type = type.map { header("Content-Type", $0.mediaType).cut(to: 100) } ?? ""
        return "(\(type.isEmpty ? "" : "\(type), ")\(count.grouped) \(count == 1 ? "byte" : "bytes"))"
    }
}

extension Int {
    /// `5,120`
    fileprivate var grouped: String { self < 1000 ? "\(self)" : "\((self / 1000).grouped),\("\(self % 1000 + 1000)".dropFirst())" }
}

// MARK: - A request's credentials

extension PreparedRequest {
    /// The marked secrets and the credentials.
    package var secretsInTexts: RequestSecrets {
        var secrets = secrets
        secrets.add(credentialValues)
        return secrets
    }

    /// The values with a credential's name, in headers and query.
    private var credentialValues: [String] {
        let fields = headers.filter { $0.name.namesCredential } + (addedCookie.map { [(name: "Cookie", value: $0)] } ?? [])
        var values: [Substring] = fields.flatMap { name, value in
            value.credentials(inHeader: name).flatMap { credential in
                // A server may repeat a part or all of it.
                let marks = " \t;,=\"".unicodeScalars
                let parts = credential.unicodeScalars.split { marks.contains($0) }.map { Substring($0) }
                return parts + [credential.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))[...]]
            }
        }
        // All of the text after a scheme, and the password of Basic, may contain any of these marks.
        for (name, value) in headers where name.namesCredential {
            let parts = value.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard parts.count == 2 else { continue }
            values.append(parts[1])
            if parts[0].lowercased() == "basic", let pair = String(parts[1]).basicPair { values.append(pair.password[...]) }
        }
        _ = URIReference.items(URIReference(url.absoluteString).query ?? "") { name, value in
            if let value, String(name).namesCredential { values += [value, Substring(String(value).formDecoded)] }
            return ""
        }
        return values.map(String.init)
    }
}

extension String {
    /// The values in this header that may be credentials: cookie values, the parameters of a scheme such as Digest, or the text after a
    /// scheme such as Bearer.
    fileprivate func credentials(inHeader name: String) -> [Substring] {
        func value(of pair: Substring) -> Substring {
            let value = pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair.utf8[$0...].dropFirst() } ?? pair.utf8
            // Base64 padding is no value.
            return value.allSatisfy { $0 == UInt8(ascii: "=") } ? pair : Substring(value)
        }
        if name.lowercased().hasSuffix("cookie") { return parts(between: UInt8(ascii: ";")).map(value) }
        let parts = utf8.split(maxSplits: 1) { $0 == 32 || $0 == 9 }.map { Substring($0) }
        guard parts.count == 2, name.lowercased().hasSuffix("authorization") else { return [self[...]] }
        let hasParameters = parts[1].utf8.contains { ",\"".utf8.contains($0) }
        return hasParameters ? parts[1].parts(between: UInt8(ascii: ",")).map(value) : [parts[1]]
    }
}
