import APIProvider
import Foundation

extension Redaction {
    /// A header's value. All of it is left out where the name is that of a secret; else what a URL in it holds.
    func header(_ name: String, _ value: String) -> String {
        hidesHeader(name) && !value.isEmpty ? Self.placeholder : words(value)
    }

    /// A URL, or a reference to one: its user and password, and the secrets of its query and its fragment.
    func url(_ text: some StringProtocol) -> String {
        let address = text.prefix { $0 != "?" && $0 != "#" }
        let query = text[address.endIndex...].prefix { $0 != "#" }
        let fragment = text[query.endIndex...]
        return withoutUser(address) + query.prefix(1) + form(query.dropFirst()) + fragment.prefix(1) + form(fragment.dropFirst())
    }

    /// What `&` separates: a query, a form, or a fragment that is written like one.
    func form(_ text: some StringProtocol) -> String { form(text, depth: 0) }

    /// Text in which URLs and parameters may stand among other words.
    func words(_ text: String) -> String {
        guard text.contains(where: { "=@".contains($0) }) else { return text }
        var result = ""
        var rest = text[...]
        while !rest.isEmpty {
            var word = rest.prefix { !$0.endsWord }
            while let last = word.last, ";,".contains(last) { word.removeLast() }
            result += word.contains { "/?#".contains($0) } ? url(word) : form(word)
            rest = rest[word.endIndex...]
            let gap = rest.prefix { $0.endsWord || ";,".contains($0) }
            result += gap
            rest = rest[gap.endIndex...]
        }
        return result
    }

    private func form(_ text: some StringProtocol, depth: Int) -> String {
        guard text.contains("=") else { return String(text) }
        return text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            let value = item[name.endIndex...].dropFirst()
            guard !value.isEmpty else { return String(item) }
            guard !hidesParameter(name.removingPercentEncoding ?? String(name)) else { return "\(name)=\(Self.placeholder)" }
            return unescaped(value, depth: depth).map { "\(name)=\($0)" } ?? String(item)
        }.joined(separator: "&")
    }

    /// A value in which a URL stands with its escapes, as one to come back to does; `nil` where nothing is to be left out of it. What is
    /// escaped without end would take the stack.
    private func unescaped(_ value: some StringProtocol, depth: Int) -> String? {
        guard depth < 4, value.contains("%"), let inner = value.removingPercentEncoding else { return nil }
        let address = inner.prefix { $0 != "?" && $0 != "#" }
        let parameters = inner[address.endIndex...]
        let redacted = withoutUser(address) + parameters.prefix(1) + form(parameters.dropFirst(), depth: depth + 1)
        return redacted == inner ? nil : redacted.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    }

    /// RFC 3986, section 3.2.1.
    private func withoutUser(_ address: some StringProtocol) -> String {
        guard isNeeded, let slashes = address.range(of: "//") else { return String(address) }
        let authority = address[slashes.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@"), at > authority.startIndex else { return String(address) }
        return address[..<slashes.upperBound] + Self.placeholder + address[at...]
    }
}

extension Character {
    fileprivate var endsWord: Bool { isWhitespace || self == "<" || self == ">" }
}
