import APIProvider
import Foundation

/// A URL taken apart, so that two that mean the same are equal: escapes are read, the host's case and the scheme's own port do not count.
struct URLParts: Sendable {
    /// What stands after each slash of the path; the last is empty where the path ends in one.
    let segments: [String]
    private let schemeAndAuthority: Substring
    private let queryText: Substring

    /// A URL, or all of one that comes after its host.
    ///
    /// It is made for each request, and so goes by bytes and not by characters.
    init(_ url: String) {
        let text = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        let question = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        var path = text[..<question]
        if path.first != UInt8(ascii: "/"), let colon = path.firstIndex(of: UInt8(ascii: ":")), path[colon...].starts(with: "://".utf8) {
            let host = path[colon...].dropFirst(3)
            path = host[(host.firstIndex(of: UInt8(ascii: "/")) ?? host.endIndex)...]
        }
        schemeAndAuthority = url[..<path.startIndex]
        queryText = Substring(text[question...].dropFirst())
        segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(\.unescaped)
    }

    /// The scheme and the host, with the port unless it is the scheme's own. `nil` where the URL begins with its path.
    var origin: String? {
        let parts = schemeAndAuthority.components(separatedBy: "://")
        guard parts.count == 2 else { return nil }
        let scheme = parts[0].lowercased()
        let host = parts[1].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // The colons inside the brackets of an IPv6 address do not start a port.
        let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 } ?? host.endIndex
        let port = Int(host[colon...].dropFirst()).flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : $0 }
        return "\(scheme)://\(host[..<colon].lowercased())\(port.map { ":\($0)" } ?? "")"
    }

    var hasUser: Bool { schemeAndAuthority.contains("@") }

    var query: [URLQueryItem] { Self.items(of: queryText) }

    /// The query with `+` for a space, as forms and browsers write it.
    var formQuery: [URLQueryItem] { Self.items(of: queryText.replacingOccurrences(of: "+", with: "%20")[...]) }

    private static func items(of query: Substring) -> [URLQueryItem] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return URLQueryItem(name: name.unescaped, value: item[name.endIndex...].dropFirst().unescaped)
        }
    }

    func values(of name: String) -> [String] {
        query.filter { $0.name.hasBytes(of: name) }.map { $0.value ?? "" }
    }

    /// The path without its escapes.
    var path: String { "/" + segments.joined(separator: "/") }
}

extension Substring.UTF8View {
    /// The text without its escapes, or as it is where they are none.
    fileprivate var unescaped: String {
        let text = String(Substring(self))
        return contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text
    }
}
