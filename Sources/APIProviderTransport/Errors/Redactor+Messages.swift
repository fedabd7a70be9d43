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
    package func serverMessage(of response: APIResponse) -> String? {
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
            field.value.credentials(inHeader: field.name).flatMap { $0.split { $0.isWhitespace || ";,=\"".contains($0) } }
        }
        _ = URLText.items(URLText(url.absoluteString).query ?? "") { name, value in
            if let value, String(name).namesCredential { values += [value, Substring(String(value).formDecoded)] }
            return ""
        }
        return values.map(String.init)
    }
}

extension String {
    /// The values of this header that may be a credential: those of the cookies, those of the parameters of a scheme such as Digest, or
    /// what comes after a scheme such as Bearer.
    fileprivate func credentials(inHeader name: String) -> [Substring] {
        func value(of pair: Substring) -> Substring {
            let value = pair.firstIndex(of: "=").map { pair[$0...].dropFirst() } ?? pair
            // The padding of Base64 is no value.
            return value.allSatisfy { $0 == "=" } ? pair : value
        }
        if name.lowercased().hasSuffix("cookie") { return split(separator: ";").map(value) }
        let parts = split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2, name.lowercased().hasSuffix("authorization") else { return [self[...]] }
        let hasParameters = parts[1].contains { ",\"".contains($0) }
        return hasParameters ? parts[1].split(separator: ",").map(value) : [parts[1]]
    }

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
