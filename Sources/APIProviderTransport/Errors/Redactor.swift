package import Foundation

/// Makes the texts about a request and its response for a ``Redaction``.
package struct Redactor: Sendable {
    package let redaction: Redaction
    /// The request's marked secrets.
    package let secrets: RequestSecrets
    /// The same, and the request's credentials.
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

    /// Returns the URL with `…` for the values of its query, and without user, password and fragment.
    package func url(_ url: URL) -> String {
        redaction.showsEverything ? url.absoluteString : secrets.redacted(url: url.absoluteString)
    }

    /// Returns the value of the header, or `…` if the value may say something about a person or a credential.
    package func header(_ name: String, _ value: String) -> String {
        redaction.showsEverything || Redaction.isHarmless(header: name) ? secrets.redacted(value) : "…"
    }

    // MARK: - Texts

    /// Returns a text of a server or the app without the request's secrets.
    package func redacted(_ text: String) -> String { secretsInText.redacted(text) }

    /// Returns a text of the system, with URLs redacted like those of requests.
    func redactedURLs(in text: String) -> String {
        guard !redaction.showsEverything, text.contains("://") else { return redacted(text) }
        var rest = text[...], shown = ""
        while let start = rest.range(of: #"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s"'<>]+"#, options: .regularExpression) {
            shown += rest[..<start.lowerBound] + secrets.redacted(url: String(rest[start]))
            rest = rest[start.upperBound...]
        }
        return redacted(shown + rest)
    }

    /// Returns the words of a server or of the app about a response, on one line of at most 200 characters.
    func message(_ text: String) -> String {
        // The secrets first, so that the cut leaves no part of one.
        let text = redacted(text)
        let start = text.prefix(200)
        return (start.endIndex == text.endIndex ? text : start.dropLast() + "…").onOneLine.cut(to: 1_000)
    }

    /// The media type and the size of a body: `(text/html, 5,120 bytes)`.
    package func size(_ count: Int, type: String?) -> String {
        let type = type.map { header("Content-Type", $0.mediaType).cut(to: 100) } ?? ""
        return "(\(type.isEmpty ? "" : "\(type), ")\(count.grouped) \(count == 1 ? "byte" : "bytes"))"
    }
}

extension Int {
    /// `5,120`
    fileprivate var grouped: String { self < 1000 ? "\(self)" : "\((self / 1000).grouped),\("\(self % 1000 + 1000)".dropFirst())" }
}
