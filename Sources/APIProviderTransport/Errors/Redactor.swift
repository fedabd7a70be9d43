package import Foundation

/// Describes a request and the response for a ``Redaction``.
package struct Redactor: Sendable {
    package let redaction: Redaction
    /// The request's marked secrets.
    package let secrets: RequestSecrets
    /// The marked secrets and the request's credentials.
    private let secretsInText: RequestSecrets

    /// - Parameter request: The request with the secrets to hide, if any.
    package init(_ redaction: Redaction = .standard, for request: PreparedRequest? = nil) {
        let request = redaction.showsEverything ? nil : request
        (self.redaction, secrets) = (redaction, request?.secrets ?? RequestSecrets())
        var secrets = secrets
        secrets.add(request?.credentialValues ?? [])
        secretsInText = secrets
    }

    // MARK: - Requests

    /// `GET https://api.example.com/search?q=…`
    package func line(of request: PreparedRequest) -> String { "\(request.method) \(url(request.url))" }

    /// Returns the URL without user, password and fragment. Each value of the query becomes `…`.
    package func url(_ url: URL) -> String {
        redaction.showsEverything ? url.absoluteString : secrets.redacted(url: url.absoluteString)
    }

    /// Returns the header's value, or `…` if the value may identify a person or contain a credential.
    package func header(_ name: String, _ value: String) -> String {
        redaction.showsEverything || Redaction.isHarmless(header: name) ? secrets.redacted(value) : "…"
    }

    // MARK: - Texts

    /// Returns a server's or the app's text without the request's secrets.
    package func redacted(_ text: String) -> String { secretsInText.redacted(text) }

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
    package func size(_ count: Int, type: String?) -> String {
        let type = type.map { header("Content-Type", $0.mediaType).cut(to: 100) } ?? ""
        return "(\(type.isEmpty ? "" : "\(type), ")\(count.grouped) \(count == 1 ? "byte" : "bytes"))"
    }
}

extension Int {
    /// `5,120`
    fileprivate var grouped: String { self < 1000 ? "\(self)" : "\((self / 1000).grouped),\("\(self % 1000 + 1000)".dropFirst())" }
}
