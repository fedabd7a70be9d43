import Foundation

/// A scheme, a host and maybe a port, such as `https://api.github.com`.
struct Origin: Sendable {
    let text: String
    /// As it is, and as some servers write it in JSON, with escaped slashes.
    private let patterns: [NSRegularExpression]

    init(_ text: String) throws {
        let parts = URLComponents(string: text)
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false, parts.user == nil,
            ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil
        else { throw ServerError("\"\(text)\" is no origin. Write a scheme and a host, such as https://api.github.com.") }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        let spellings = [self.text, self.text.withEscapedSlashes].map { NSRegularExpression.escapedPattern(for: $0) }
        // What follows must not go on with the host or the port.
        patterns = try spellings.map { try NSRegularExpression(pattern: $0 + #"(?![\w.:@%-])"#, options: .caseInsensitive) }
    }

    /// The text with `other` in place of each use of this origin.
    func replaced(by other: String, in text: String) -> String {
        zip(patterns, [other, other.withEscapedSlashes]).reduce(text) { text, change in
            change.0.stringByReplacingMatches(
                in: text, range: NSRange(text.startIndex..., in: text), withTemplate: NSRegularExpression.escapedTemplate(for: change.1))
        }
    }
}

extension String {
    fileprivate var withEscapedSlashes: String { replacingOccurrences(of: "/", with: "\\/") }
}
