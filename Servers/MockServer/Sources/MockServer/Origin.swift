import Foundation

/// A scheme, a host and maybe a port, such as `https://api.github.com`.
struct Origin: Sendable {
    let text: String
    private let pattern: NSRegularExpression

    init(_ text: String) throws {
        let parts = URLComponents(string: text)
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false, parts.user == nil,
            ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil
        else { throw ServerError("\"\(text)\" is no origin. Write a scheme and a host, such as https://api.github.com.") }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        // What follows must not go on with the host or the port.
        pattern = try NSRegularExpression(
            pattern: NSRegularExpression.escapedPattern(for: self.text) + #"(?![\w.:@%-])"#, options: .caseInsensitive)
    }

    /// The text with `other` in place of each use of this origin.
    func replaced(by other: String, in text: String) -> String {
        pattern.stringByReplacingMatches(
            in: text, range: NSRange(text.startIndex..., in: text), withTemplate: NSRegularExpression.escapedTemplate(for: other))
    }
}
