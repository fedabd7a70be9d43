import APIProvider
import Foundation

extension Redaction {
    /// A header's value. All of it is left out where the name is that of a secret; else what a URL in it holds.
    func header(_ name: String, _ value: String) -> String {
        hidesHeader(name) && !value.isEmpty ? Self.placeholder : words(withoutSecretSegments(value))
    }

    /// Text without the path segments that requests have called secret.
    func withoutSecretSegments(_ text: String) -> String {
        isNeeded ? SecretSegments.masked(inText: text, with: Self.placeholder) : text
    }

    /// A URL, or a reference to one: its user and password, and the secrets of its query and its fragment.
    func url(_ text: some StringProtocol, depth: Int = 0) -> String {
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let query = text[address.endIndex...].prefix { $0 != "#" }
        let fragment = text[query.endIndex...]
        return withoutUser(address) + query.prefix(1) + form(query.dropFirst(), depth: depth)
            + fragment.prefix(1) + form(fragment.dropFirst(), depth: depth)
    }

    /// Text that is JSON, or in which URLs and parameters may stand among other words.
    func words(_ text: String, depth: Int = 0) -> String {
        if text.beginsAsJSON, case let redacted = json(text, depth: depth), redacted != text { return redacted }
        guard text.contains(where: { "=@".contains($0) }) else { return text }
        var result = ""
        var rest = text[...]
        while !rest.isEmpty {
            var word = rest.prefix { !$0.endsWord }
            while let last = word.last, ";,".contains(last) { word.removeLast() }
            result += word.contains { "/?#".contains($0) } ? url(word, depth: depth) : form(word, depth: depth)
            rest = rest[word.endIndex...]
            let gap = rest.prefix { $0.endsWord || ";,".contains($0) }
            result += gap
            rest = rest[gap.endIndex...]
        }
        return result
    }

    /// What `&` separates: a query, a form, or a fragment that is written like one.
    func form(_ text: some StringProtocol, depth: Int = 0) -> String {
        guard text.contains("=") else { return String(text) }
        return text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            if let end = endOfSecretName(in: item) { return "\(item[..<end])=\(Self.placeholder)" }
            let name = item.prefix { $0 != "=" }
            return nested(item[name.endIndex...].dropFirst(), depth: depth).map { "\(name)=\($0)" } ?? String(item)
        }.joined(separator: "&")
    }

    /// Where the first name of a secret ends that has a value: that of the item, or of a parameter among several that stand in it. What
    /// follows is left out to the item's end, for a secret may itself hold what separates parameters.
    private func endOfSecretName<Text: StringProtocol>(in item: Text) -> Text.Index? {
        let value = item[(item.firstIndex(of: "=") ?? item.startIndex)...].dropFirst()
        let isOne = value.removingPercentEncoding?.beginsAsJSON == true
        for parameter in isOne ? [item[...]] : item.split(whereSeparator: { ";,".contains($0) }) {
            let name = parameter.prefix { $0 != "=" }
            guard !parameter[name.endIndex...].dropFirst().isEmpty else { continue }
            let text = name.removingPercentEncoding ?? String(name)
            // A fragment may be a path with a query of its own: `#/callback?code=…`.
            if hidesParameter(text) || text.lastIndex(of: "?").map({ hidesParameter(text[$0...].dropFirst()) }) == true {
                return name.endIndex
            }
        }
        return nil
    }

    /// A value that is JSON or in which a URL stands, escaped or not, as one to come back to does; `nil` where nothing is to be left out of
    /// it. What is nested without end would take the stack.
    private func nested(_ value: some StringProtocol, depth: Int) -> String? {
        guard depth < 4, let inner = value.removingPercentEncoding else { return nil }
        let redacted = inner.beginsAsJSON ? json(inner, depth: depth + 1) : url(inner, depth: depth + 1)
        guard redacted != inner else { return nil }
        return value.contains("%") ? redacted.addingPercentEncoding(withAllowedCharacters: .alphanumerics) : redacted
    }

    /// RFC 3986, section 3.2.1.
    private func withoutUser(_ address: some StringProtocol) -> String {
        guard isNeeded, let slashes = address.range(of: "//") else { return String(address) }
        let authority = address[slashes.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@"), at > authority.startIndex else { return String(address) }
        return "\(address[..<slashes.upperBound])\(Self.placeholder)\(address[at...])"
    }
}

extension String {
    fileprivate var beginsAsJSON: Bool { first { !$0.isWhitespace }.map { "{[".contains($0) } == true }
}

extension Character {
    fileprivate var endsWord: Bool { isWhitespace || self == "<" || self == ">" }
}
