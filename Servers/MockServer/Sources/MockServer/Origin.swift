import Foundation

/// A scheme, a host and maybe a port, such as `https://api.github.com`.
struct Origin: Sendable {
    let text: String
    /// In lower case.
    private let host: String
    /// With its slashes as they are, or escaped, as some servers write them in JSON.
    private let pattern: NSRegularExpression
    /// Without the scheme, at the beginning of a reference.
    private let reference: NSRegularExpression

    init(_ text: String) throws {
        let parts = URLComponents(string: text)
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), let host = parts.host?.lowercased(), !host.isEmpty,
            parts.user == nil, ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil
        else { throw ServerError("\"\(text)\" is no origin. Write a scheme and a host, such as https://api.github.com.") }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.host = host
        let (scheme, address) = (self.text.prefix { $0 != "/" }, self.text.drop { $0 != "/" }.drop { $0 == "/" })
        // What follows must not go on with the host or the port.
        let rest = #"(\\?/)\1"# + NSRegularExpression.escapedPattern(for: String(address)) + #"(?![\w.:@%-])"#
        pattern = try NSRegularExpression(pattern: "\(scheme)\(rest)", options: .caseInsensitive)
        reference = try NSRegularExpression(pattern: "(?<=^|<)\(rest)", options: .caseInsensitive)
    }

    /// The text with the server at `address` in place of each use of this origin.
    func replaced(by address: String, in text: String) -> String {
        pattern.replacing(in: text, with: "http:", address)
    }

    /// The value of a `Location` or a `Link`, with the server at `address` in place of this origin.
    func replaced(by address: String, inLinks text: String) -> String {
        reference.replacing(in: replaced(by: address, in: text), with: "", address)
    }

    /// A `Set-Cookie` that a client of another host, without TLS, keeps. A cookie with a prefix in its name cannot be one.
    func localized(cookie: String) -> String {
        let parts = cookie.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0) }
        func normalized(_ part: Substring) -> String { part.lowercased().filter { $0 != " " && $0 != "\t" } }
        let hasPrefix = ["__host-", "__secure-"].contains { parts[0].lowercased().utf8.starts(with: $0.utf8) }
        let isSecure = !hasPrefix && parts.dropFirst().contains { normalized($0) == "secure" }
        let kept = parts.dropFirst().filter { part in
            let attribute = normalized(part)
            if attribute.hasPrefix("domain=") {
                let domain = attribute.dropFirst(7).drop { $0 == "." }
                return domain != host && !host.hasSuffix(".\(domain)")
            }
            return !isSecure || attribute != "secure" && attribute != "samesite=none"
        }
        return (parts.prefix(1) + kept).joined(separator: ";")
    }
}

extension NSRegularExpression {
    /// - Parameter scheme: Stands before the slashes, which stay as they are.
    fileprivate func replacing(in text: String, with scheme: String, _ address: String) -> String {
        let template = "\(scheme)$1$1\(NSRegularExpression.escapedTemplate(for: address))"
        return stringByReplacingMatches(in: text, range: NSRange(text.startIndex..., in: text), withTemplate: template)
    }
}
