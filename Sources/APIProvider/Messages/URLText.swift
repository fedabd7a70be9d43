/// The text of a URL, or of a reference to one (RFC 3986), taken apart at its marks and otherwise as it is.
package struct URLText {
    /// With `://`; empty in a reference within a server.
    private var scheme: Substring = ""
    /// The host and the port. A user and a password before them are left out.
    private var host: Substring = ""
    package let path: Substring
    package let query: Substring?
    package let fragment: Substring?

    package init(_ text: some StringProtocol) {
        let beforeFragment = text.prefix { $0 != "#" }
        let beforeQuery = beforeFragment.prefix { $0 != "?" }
        fragment = beforeFragment.endIndex < text.endIndex ? Substring(text[beforeFragment.endIndex...].dropFirst()) : nil
        query = beforeQuery.endIndex < beforeFragment.endIndex ? Substring(beforeFragment[beforeQuery.endIndex...].dropFirst()) : nil

        let colon = beforeQuery.firstIndex { $0 == ":" || $0 == "/" }
        guard let colon, beforeQuery[colon] == ":" else {
            path = Substring(beforeQuery)
            return
        }
        let rest = beforeQuery[colon...]
        guard rest.hasPrefix("://"), !rest.hasPrefix(":///") else {
            // What follows the scheme of `data:`, `mailto:` or `file:` may be anything.
            path = "\(beforeQuery[...colon])…"
            return
        }
        let authority = rest.dropFirst(3).prefix { $0 != "/" }
        scheme = "\(beforeQuery[..<colon])://"
        host = Substring(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
        path = Substring(rest[authority.endIndex...])
    }

    /// The URL without user, password and fragment, and with these texts for its path and its query.
    package func text(path: some StringProtocol, query: String?) -> String { "\(scheme)\(host)\(path)\(query.map { "?\($0)" } ?? "")" }

    /// The items of a query, or of a form, each as `shown` writes it. An item without `=` has no value. An empty one stays.
    package static func items(_ query: some StringProtocol, _ shown: (_ name: Substring, _ value: Substring?) -> String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard !item.isEmpty else { return "" }
            let item = Substring(item)
            let name = item.prefix { $0 != "=" }
            return shown(name, name.endIndex < item.endIndex ? item[name.endIndex...].dropFirst() : nil)
        }.joined(separator: "&")
    }
}
