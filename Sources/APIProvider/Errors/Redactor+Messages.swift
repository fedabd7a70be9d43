import Foundation

extension Redactor {
    /// - Parameter request: The request whose secrets are hidden.
    package init(_ redaction: Redaction = .standard, for request: PreparedRequest?) {
        let request = redaction.showsEverything ? nil : request
        self.init(redaction, secrets: request?.secrets ?? RequestSecrets(), credentials: request?.credentials ?? [])
    }

    /// `GET https://api.example.com/search?q=…`
    package func line(of request: PreparedRequest) -> String { "\(request.method) \(url(request.url))" }

    /// The server's error message on one line: at most 200 bytes about the whole request, and as many about its parts. `nil` if there is
    /// none.
    func serverMessage(of response: APIResponse) -> String? {
        if let text = text(of: response.data.prefix(1024), total: response.data.count) { return text.onOneLine.cut(to: 200) }
        guard !redaction.showsEverything, let message = ServerMessage(response) else { return nil }
        let summary = message.summary.map { self.message($0).onOneLine.cut(to: 200) }
        guard !message.details.isEmpty else { return summary }
        let details = self.message(message.details.map(\.withoutFullStop).joined(separator: "; ")).onOneLine.cut(to: 200)
        return summary.map { "\($0.withoutFullStop) (\(details))" } ?? details
    }

    /// The server's error message, if the body itself says that it is an error.
    func serverMessage(ofError response: APIResponse) -> String? {
        ServerMessage.isError(response.data) ? serverMessage(of: response) : nil
    }
}

extension PreparedRequest {
    /// The words that it sends under a name that stands for a credential, in its headers and its query.
    fileprivate var credentials: [String] {
        var values: [Substring] = headers.filter { $0.name.namesCredential }.flatMap { field -> [Substring] in
            let name = field.name.lowercased()
            let words = field.value.split { $0.isWhitespace || ";,".contains($0) }
            // The first is the scheme: Bearer.
            let isWithScheme = words.count > 1 && name.hasSuffix("authorization")
            // Those of a cookie and of a scheme such as Digest have names.
            let haveNames = name.hasSuffix("cookie") || isWithScheme
            return words.dropFirst(isWithScheme ? 1 : 0).flatMap { word in
                let parts = word.split { "=\"".contains($0) }
                return parts.count > 1 && haveNames ? Array(parts.dropFirst()) : parts
            }
        }
        _ = URLText.items(URLText(url.absoluteString).query ?? "") { name, value in
            if let value, String(name).namesCredential { values += [value, Substring(String(value).formDecoded)] }
            return ""
        }
        return values.map(String.init)
    }
}

extension String {
    /// Whether the name of a header or of an item of a query stands for a credential.
    package var namesCredential: Bool {
        let name = lowercased().filter { $0.isLetter }
        return Self.partsOfCredentials.contains { name.contains($0) }
            || ["auth", "appid"].contains { name.hasSuffix($0) } || ["key", "xkey", "pwd", "pin", "otp", "sig"].contains(name)
            || Self.namesOfKeys.contains { name.hasSuffix($0) }
    }

    private static let partsOfCredentials = [
        "token", "secret", "password", "passwd", "passphrase", "cookie", "session", "signature", "authorization", "credential", "csrf",
        "jwt",
    ]

    /// Others that end in `key`, such as `sortKey` and `Idempotency-Key`, are no credentials.
    package static let namesOfKeys = [
        "api", "access", "account", "app", "application", "auth", "client", "encryption", "functions", "license", "master", "private",
        "server", "shared", "signing", "subscription",
    ].map { $0 + "key" }
}
