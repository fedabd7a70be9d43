/// A URI reference without its fragment, split at the delimiters (RFC 3986, appendix B). Nothing is decoded or normalized.
package struct URIReference: Sendable {
    /// `nil` for a relative reference, and for a URL without `://`, such as `mailto:`, where `path` includes the scheme.
    package let scheme: Substring?
    /// The user, the host and the port.
    package let authority: Substring
    package let path: Substring
    package let query: Substring?

    package init(_ text: some StringProtocol) {
        let (hierarchy, query) = Substring(text).split(at: UInt8(ascii: "#")).0.split(at: UInt8(ascii: "?"))
        self.query = query
        let end = hierarchy.utf8.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if let end, hierarchy[end...].utf8.starts(with: "://".utf8) {
            let rest = hierarchy.utf8[end...].dropFirst(3)
            let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            (scheme, authority, path) = (hierarchy[..<end], hierarchy[rest.startIndex..<slash], hierarchy[slash...])
        } else {
            (scheme, authority, path) = (nil, "", hierarchy)
        }
    }

    /// The authority without the user.
    package var hostAndPort: Substring { authority.parts(between: UInt8(ascii: "@")).last ?? "" }

    /// The URL without user, password and fragment, and with a redacted path and query. Without a host, as in `data:`, `mailto:` and
    /// `file:`, the path may be anything, and becomes `…`.
    package func redacted(path redactPath: (String) -> String, query redactQuery: (Substring) -> String) -> String {
        let query = query.map { "?" + redactQuery($0) } ?? ""
        if let scheme, !authority.isEmpty || path.isEmpty {
            return "\(scheme)://\(hostAndPort)\(redactPath(String(path)))\(query)"
        }
        let opaqueScheme = scheme ?? path.utf8.firstIndex(of: UInt8(ascii: ":")).map { path[..<$0] }
        guard let opaqueScheme, !opaqueScheme.utf8.contains(UInt8(ascii: "/")) else { return redactPath(String(path)) + query }
        return "\(opaqueScheme):…\(query)"
    }

    /// A query's or form's items, formatted by `format`. An item without `=` has no value. Empty items stay.
    package static func items(_ query: some StringProtocol, _ format: (_ name: Substring, _ value: Substring?) -> String) -> String {
        query.parts(between: UInt8(ascii: "&")).map { item in
            guard !item.isEmpty else { return "" }
            let (name, value) = Substring(item).split(at: UInt8(ascii: "="))
            return format(name, value)
        }.joined(separator: "&")
    }
}
