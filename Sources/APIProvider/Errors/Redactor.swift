package import Foundation

/// Writes what ``Redaction`` shows of a request and its response.
package struct Redactor: Sendable {
    let redaction: Redaction
    let secrets: RequestSecrets

    package init(_ redaction: Redaction = .standard, for request: PreparedRequest? = nil) {
        self.redaction = redaction
        secrets = request.flatMap { redaction.showsEverything ? nil : $0.secrets } ?? RequestSecrets()
    }

    /// `GET https://api.example.com/search?q=…`
    package func line(of request: PreparedRequest) -> String { "\(request.method) \(url(request.url))" }

    /// Returns the URL with `…` for the values of its query, and without user, password and fragment.
    package func url(_ url: URL) -> String {
        guard !redaction.showsEverything else { return url.absoluteString }
        return Self.redacted(url: url.absoluteString, secrets: secrets)
    }

    /// Returns the URL, or reference to one, with `…` for the values of its query, and without user, password and fragment.
    static func redacted(url text: String, secrets: RequestSecrets = RequestSecrets()) -> String {
        URLText(text).redacted(path: { secrets.hide(inPath: $0) }) { query in
            URLText.items(query) { name, value in
                // An item without a value may be a token. A token in Base64 may end in "=", which looks like an empty value. So such a name
                // is hidden, too.
                value?.allSatisfy { $0 == "=" } != false ? "…" : "\(name)=…"
            }
        }
    }

    /// Returns the value of the header, or `…` if the value may say something about a person or a credential.
    package func header(_ name: String, _ value: String) -> String {
        redaction.showsEverything || Redaction.isHarmless(header: name) ? secrets.hide(in: value) : "…"
    }

    /// Returns a message without secrets and without words that have digits. The message comes from a server, the system or the app.
    package func message(_ text: String) -> String {
        redaction.showsEverything ? text : secrets.hide(in: text).withoutWordsWithDigits
    }

    /// The media type and the size of a body: `(text/html, 5,120 bytes)`.
    func size(_ count: Int, type: String?) -> String {
        let type = type.map { header("Content-Type", $0.mediaType).cut(to: 100) } ?? ""
        return "(\(type.isEmpty ? "" : "\(type), ")\(count.grouped) \(count == 1 ? "byte" : "bytes"))"
    }

    /// The text of a body if everything is shown and it is text; `nil` otherwise.
    ///
    /// - Parameter total: How many bytes the body has, if `body` is the beginning of it.
    func text(of body: Data, total: Int) -> String? {
        guard redaction.showsEverything else { return nil }
        // The beginning of a body may end within a character.
        let cuts = 0...(total > body.count ? 3 : 0)
        guard let text = cuts.lazy.compactMap({ String(data: body.dropLast($0), encoding: .utf8) }).first, !text.contains("\0") else {
            return nil
        }
        return total > body.count ? text + "…" : text
    }
}

extension Redactor {
    /// What the server says went wrong, on one line of at most 200 bytes; `nil` if it says nothing.
    func message(of response: APIResponse) -> String? {
        let body = response.data
        if let text = text(of: body.prefix(1024), total: body.count) { return text.onOneLine.cut(to: 200) }
        // A larger body is no message, and takes long to read.
        guard !redaction.showsEverything, body.count <= 1 << 20 else { return nil }
        let text: String?
        if let json = try? JSONSerialization.jsonObject(with: body) {
            text = json is [String: Any] ? Self.firstMessage(in: json) : nil
        } else {
            let isText = response.value(forHTTPHeaderField: "Content-Type")?.mediaType == "text/plain"
            let lines = isText ? String(data: body, encoding: .utf8)?.split(whereSeparator: \.isNewline) : nil
            text = lines?.count == 1 ? lines?.first.map(String.init) : nil
        }
        return text.map { message($0).onOneLine.cut(to: 200) }
    }

    /// The names of RFC 9457, RFC 6749, JSON:API and GraphQL, and other common ones.
    private static let messageNames = ["message", "error_description", "detail", "title", "error", "errors"]

    private static func firstMessage(in json: Any?) -> String? {
        if let text = json as? String { return text.allSatisfy(\.isWhitespace) ? nil : text }
        if let list = json as? [Any] { return firstMessage(in: list.first) }
        guard let object = json as? [String: Any] else { return nil }
        for name in messageNames {
            if let text = firstMessage(in: object[name]) { return text }
        }
        // Rails and Laravel have an array of texts for each thing that is wrong: `{"errors":{"password":["is too short"]}}`.
        let fields = object["errors"] as? [String: Any] ?? [:]
        return fields.sorted { $0.key < $1.key }.compactMap { ($0.value as? [Any])?.first as? String }.first
    }
}

extension String {
    /// The text with `…` for each word of six characters and more that has a digit in it, and with URLs as they are shown elsewhere.
    fileprivate var withoutWordsWithDigits: String {
        var output = ""
        var rest = unicodeScalars[...]
        while let first = rest.first {
            let isSpace = first.properties.isWhitespace
            let run = rest.prefix { $0.properties.isWhitespace == isSpace }
            let isShown = isSpace || run.count < 6 || !run.contains { $0.properties.generalCategory == .decimalNumber }
            let word = String(run)
            output += !isShown ? "…" : word.contains("://") ? Redactor.redacted(url: word) : word
            rest = rest[run.endIndex...]
        }
        return output
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
