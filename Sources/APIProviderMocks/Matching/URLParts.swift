import APIProvider
package import Foundation

/// A URL's parts, normalized for comparison: decoded, with a lowercase host, and without a default port.
package struct URLParts: Sendable {
    /// The path segments. After a final slash, the last is empty.
    let segments: [String]
    let text: URIReference

    /// Reads a URL, or a reference without an origin.
    package init(_ url: String) {
        text = URIReference(url)
        let path = text.path.utf8
        segments = (path.first == UInt8(ascii: "/") ? path.dropFirst() : path).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map(\.unescaped)
    }

    /// The scheme and the host, with any port but the default; `nil` for a reference.
    package var origin: String? {
        guard let scheme = text.scheme?.lowercased() else { return nil }
        let host = text.hostAndPort
        // Colons in an IPv6 address's brackets do not start a port.
        let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 } ?? host.endIndex
        let port = Int(host[colon...].dropFirst()).flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : $0 }
        return "\(scheme)://\(host[..<colon].lowercased())\(port.map { ":\($0)" } ?? "")"
    }

    var hasUser: Bool { text.authority.utf8.contains(UInt8(ascii: "@")) }

    /// The query items, with `+` as a plus sign.
    var query: [URLQueryItem] { .init(form: text.query?.replacingOccurrences(of: "+", with: "%2B", options: .literal) ?? "") }

    /// The query items, with `+` as a space, as in forms and browsers.
    package var formQuery: [URLQueryItem] { .init(form: text.query ?? "") }

    func values(of name: String) -> [String] {
        query.filter { $0.name.hasSameBytes(as: name) }.map { $0.value ?? "" }
    }

    /// The path without escapes, except for slashes within a segment.
    package var path: String { segments.path }
}

extension [URLQueryItem] {
    /// Reads a form (`application/x-www-form-urlencoded`), by the WHATWG URL standard (section 5.1).
    package init(form text: some StringProtocol) {
        self = Substring(text).utf8.formItems.map { URLQueryItem(name: $0.name, value: $0.value) }
    }
}

extension Substring.UTF8View {
    /// The form items, decoded, with each value's place.
    var formItems: [(name: String, value: String, range: Range<String.Index>)] {
        split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = item[name.endIndex...].dropFirst()
            return (name.formDecoded, value.formDecoded, value.startIndex..<value.endIndex)
        }
    }

    /// The decoded text. Escapes of invalid UTF-8 stay: different ones would become the same text.
    private var formDecoded: String {
        let decoded = Substring(self).formDecoded
        return decoded.unicodeScalars.contains("\u{FFFD}") ? String(Substring(self)) : decoded
    }

    /// The decoded text, or the text itself if an escape is invalid.
    fileprivate var unescaped: String {
        let text = String(Substring(self))
        return contains(UInt8(ascii: "%")) ? text.percentDecoded ?? text : text
    }
}

extension [String] {
    /// These segments' path. A slash within a segment appears as `%2F`, because such a slash matches no separator.
    var path: String { "/" + map { $0.replacingOccurrences(of: "/", with: "%2F", options: .literal) }.joined(separator: "/") }
}
