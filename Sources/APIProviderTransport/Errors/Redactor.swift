package import Foundation

/// Makes the texts about a request and its response that a ``Redaction`` shows.
package struct Redactor: Sendable {
    package let redaction: Redaction
    /// What the program has marked as secret in the request.
    package let secrets: RequestSecrets
    /// The same, and what the request sends as a credential.
    private var secretsOfMessages: RequestSecrets

    package init(_ redaction: Redaction = .standard) { self.init(redaction, secrets: RequestSecrets(), credentials: []) }

    init(_ redaction: Redaction, secrets: RequestSecrets, credentials: [String]) {
        (self.redaction, self.secrets, secretsOfMessages) = (redaction, secrets, secrets)
        secretsOfMessages.add(credentials)
    }

    /// Returns the URL with `…` for the values of its query, and without user, password and fragment.
    package func url(_ url: URL) -> String {
        guard !redaction.showsEverything else { return url.absoluteString }
        return Self.redacted(url: url.absoluteString, secrets: secrets)
    }

    /// Returns the URL, or reference to one, with `…` for the values of its query, and without user, password and fragment.
    ///
    /// - Parameter redactsWords: Whether segments of its path are hidden as the words of a message are.
    package static func redacted(url text: String, secrets: RequestSecrets = RequestSecrets(), redactsWords: Bool = false) -> String {
        URLText(text).redacted(path: { redactsWords ? $0.redactingSegments : secrets.redacted(path: $0) }) { query in
            URLText.items(query) { name, value in
                // An item without a value may be a token. A token in Base64 may end in "=", which looks like an empty value. So such a name
                // is hidden, too.
                value?.allSatisfy { $0 == "=" } != false ? "…" : "\(name)=…"
            }
        }
    }

    /// Returns the value of the header, or `…` if the value may say something about a person or a credential.
    package func header(_ name: String, _ value: String) -> String {
        redaction.showsEverything || Redaction.isHarmless(header: name) ? secrets.redacted(value) : "…"
    }

    /// Returns a message without what the request sends as a credential, and without words that may be secrets. The message comes from a
    /// server, the system or the app.
    package func message(_ text: String) -> String {
        redaction.showsEverything ? text : secretsOfMessages.redacted(text).redactingWords
    }

    /// Returns any text without what the request sends as a credential.
    package func redacted(_ text: String) -> String { secretsOfMessages.redacted(text) }

    /// The media type and the size of a body: `(text/html, 5,120 bytes)`.
    package func size(_ count: Int, type: String?) -> String {
        let type = type.map { header("Content-Type", $0.mediaType).cut(to: 100) } ?? ""
        return "(\(type.isEmpty ? "" : "\(type), ")\(count.grouped) \(count == 1 ? "byte" : "bytes"))"
    }

    /// The text of a body if everything is shown and it is text; `nil` otherwise.
    ///
    /// - Parameter total: The number of bytes of the whole body, of which `body` may be the beginning.
    package func text(of body: Data, total: Int) -> String? {
        guard redaction.showsEverything else { return nil }
        // The beginning of a body may end within a character.
        let cuts = 0...(total > body.count ? 3 : 0)
        guard let text = cuts.lazy.compactMap({ String(data: body.dropLast($0), encoding: .utf8) }).first, !text.contains("\0") else {
            return nil
        }
        return total > body.count ? text + "…" : text
    }
}

extension Int {
    /// `5,120`
    fileprivate var grouped: String { self < 1000 ? "\(self)" : "\((self / 1000).grouped),\("\(self % 1000 + 1000)".dropFirst())" }
}

extension URL {
    /// The URL for people: see ``Redactor/url(_:)``.
    package var redacted: String { Redactor().url(self) }
}
