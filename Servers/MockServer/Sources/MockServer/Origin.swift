import Foundation

/// A scheme, a host and maybe a port, such as `https://api.github.com`.
struct Origin: Sendable {
    let text: String
    /// In lower case.
    private let host: String
    /// As it is, and as some servers write it in JSON, with escaped slashes.
    private let patterns: [NSRegularExpression]
    /// Without the scheme, at the beginning of a reference.
    private let reference: NSRegularExpression

    init(_ text: String) throws {
        let parts = URLComponents(string: text)
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), let host = parts.host?.lowercased(), !host.isEmpty,
            parts.user == nil, ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil
        else { throw ServerError("\"\(text)\" is no origin. Write a scheme and a host, such as https://api.github.com.") }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.host = host
        // What follows must not go on with the host or the port.
        let end = #"(?![\w.:@%-])"#
        func expression(_ start: String, _ text: String) throws -> NSRegularExpression {
            try NSRegularExpression(pattern: start + NSRegularExpression.escapedPattern(for: text) + end, options: .caseInsensitive)
        }
        patterns = try [self.text, self.text.withEscapedSlashes].map { try expression("", $0) }
        reference = try expression("(?<=^|<)", String(self.text.drop { $0 != "/" }))
    }

    /// The text with `other` in place of each use of this origin.
    func replaced(by other: String, in text: String) -> String {
        zip(patterns, [other, other.withEscapedSlashes]).reduce(text) { $1.0.replacing(in: $0, with: $1.1) }
    }

    /// The value of a `Location` or a `Link`, with `other` in place of this origin.
    func replaced(by other: String, inLinks text: String) -> String {
        reference.replacing(in: replaced(by: other, in: text), with: String(other.drop { $0 != "/" }))
    }

    /// A `Set-Cookie` that a client of another host, without TLS, keeps. A cookie with a prefix in its name cannot be one.
    func localized(cookie: String) -> String {
        let parts = cookie.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0) }
        let hasPrefix = ["__host-", "__secure-"].contains { parts[0].lowercased().utf8.starts(with: $0.utf8) }
        let attributes = parts.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
        let isSecure = !hasPrefix && attributes.dropFirst().contains("secure")
        let kept = zip(parts, attributes).enumerated().filter { index, part in
            guard index > 0 else { return true }
            if part.1.hasPrefix("domain=") {
                let domain = part.1.dropFirst(7).drop { $0 == "." }
                return domain != host && !host.hasSuffix(".\(domain)")
            }
            return !isSecure || part.1 != "secure" && part.1 != "samesite=none"
        }
        return kept.map(\.element.0).joined(separator: ";")
    }
}

extension NSRegularExpression {
    fileprivate func replacing(in text: String, with other: String) -> String {
        stringByReplacingMatches(
            in: text, range: NSRange(text.startIndex..., in: text), withTemplate: NSRegularExpression.escapedTemplate(for: other))
    }
}

extension String {
    fileprivate var withEscapedSlashes: String { replacingOccurrences(of: "/", with: "\\/") }
}
