import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URL {
    /// The URL for people: no user and password, `…` for every query value, no fragment.
    package var redacted: String {
        guard let components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "…" }
        guard let host = components.percentEncodedHost, !host.isEmpty else {
            return components.scheme.map { "\($0):…" } ?? components.percentEncodedPath
        }
        let port = components.port.map { ":\($0)" } ?? ""
        let items = components.percentEncodedQuery?.split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return name.endIndex < item.endIndex ? "\(name)=…" : "…"
        }
        let query = items.map { "?" + $0.joined(separator: "&") } ?? ""
        let path = SecretSegments.masked(inPath: components.percentEncodedPath)
        return "\(components.scheme.map { "\($0)://" } ?? "")\(host)\(port)\(path)\(query)"
    }
}

extension URLRequest {
    /// `GET https://api.example.com/search?q=…`
    package var line: String { "\(httpMethod ?? "GET") \(url?.redacted ?? "(no URL)")" }
}

/// Knows a secret by the name of its field.
package enum Secret {
    private static let parts = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "authorization", "bearer", "cookie", "credential",
        "apikey", "authkey", "privatekey", "accesskey", "subscriptionkey", "functionskey", "signingkey", "encryptionkey", "sessionid",
        "signature", "jwt", "assertion", "devicecode", "codeverifier",
    ]

    /// Whether a header, a parameter or a JSON field of this name holds a secret.
    package static func isNamed(by name: some StringProtocol) -> Bool {
        let name = name.lowercased().filter { $0 != "_" && $0 != "-" }
        return name.hasSuffix("auth") || parts.contains { name.contains($0) }
    }

    /// Text with `…` for the value of each field named like a secret: of JSON, or else of a form. In text that is neither, nobody knows where
    /// such a value ends: there `…` stands for all that follows the name.
    package static func masked(in text: String) -> String {
        let text = SecretSegments.masked(inText: text)
        return isJSON(text) ? masked(inJSON: text) : masked(inForm: text)
    }

    /// A header's value: `…` where the name is that of a secret, and for what follows a URL's `?` or `#`.
    package static func masked(_ value: String, ofHeader name: String) -> String {
        guard !isNamed(by: name), !(value.contains("://") && value.contains("@")) else { return "…" }
        let start = value.prefix { $0 != "?" && $0 != "#" }
        return start.endIndex < value.endIndex ? start + value[start.endIndex...].prefix(1) + "…" : value
    }

    /// Whether text begins as JSON does, and has nothing that JSON has not.
    private static func isJSON(_ text: String) -> Bool {
        guard let start = text.first(where: { !$0.isWhitespace }), "{[".contains(start) else { return false }
        var scanner = JSONTextScanner(text)
        while let token = scanner.next() {
            guard let byte = token.first, byte == UInt8(ascii: "\"") || byte >= 128 || json.contains(byte) else { return false }
        }
        return true
    }

    /// What JSON has outside of strings: marks, numbers, white space, and the letters of `true`, `false` and `null`.
    private static let json = Set("{}[]:,0123456789+-.eE \t\r\ntrufalsn".utf8)

    private static func masked(inForm text: String) -> String {
        var items: [Substring] = []
        for item in text.split(separator: "&", omittingEmptySubsequences: false) {
            let name = item.prefix { $0.isInName || "%+.[]".contains($0) }
            if item[name.endIndex...].first == "=", isNamed(by: name.removingPercentEncoding ?? String(name)) {
                items.append(name + "=…")
            } else if let end = item.endOfSecretName {
                items.append(item[..<end] + "…")
                break
            } else {
                items.append(item)
            }
        }
        return items.joined(separator: "&")
    }

    /// JSON text with `"…"` for the value of each field named like a secret. Text that breaks off, or is no JSON, passes through.
    private static func masked(inJSON text: String) -> String {
        var result: [UInt8] = []
        var scanner = JSONTextScanner(text)
        while let token = scanner.next() {
            result += token
            guard token.first == UInt8(ascii: "\""), isNamed(by: JSONTextScanner.content(of: token)), let colon = scanner.colon()
            else { continue }
            result += colon
            scanner.skipValue()
            result += Array("\"…\"".utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension Character {
    fileprivate var isInName: Bool { isASCII && (isLetter || isNumber) || self == "_" || self == "-" }
}

extension Substring {
    /// Where the first name of a secret ends that has a value: `password=`, `Token: `, `name="apiKey"`, `<secret …>`.
    fileprivate var endOfSecretName: Index? {
        var rest = self
        while let start = rest.firstIndex(where: \.isInName) {
            let name = rest[start...].prefix(while: \.isInName)
            let isTag = start > startIndex && "<:".contains(self[index(before: start)])
            rest = rest[name.endIndex...]
            guard isTag || rest.first(where: { $0 != " " }).map({ "=:>\"'".contains($0) }) == true else { continue }
            if Secret.isNamed(by: name) { return name.endIndex }
        }
        return nil
    }
}
