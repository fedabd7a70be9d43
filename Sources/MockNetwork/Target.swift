import Foundation

/// A URL taken apart, so that two that mean the same are equal: escapes are read, the host's case and the scheme's own port do not count.
struct Target: Sendable {
    struct Origin: Equatable, Sendable {
        let scheme: String
        let host: String
        /// The one that is written, unless it is the scheme's own.
        let port: Int?
    }

    let origin: Origin?
    /// What stands after each slash; the last is empty where the path ends in one.
    let segments: [String]
    let query: [URLQueryItem]

    /// A URL, or all of one that comes after its host.
    init(_ url: String) {
        let text = url.prefix { $0 != "#" }
        let question = text.firstIndex(of: "?") ?? text.endIndex
        var path = text[..<question]
        if let colon = path.range(of: "://") {
            let end = path[colon.upperBound...].firstIndex(of: "/") ?? path.endIndex
            origin = Origin(scheme: path[..<colon.lowerBound], authority: path[colon.upperBound..<end])
            path = path[end...]
        } else {
            origin = nil
        }
        segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(\.unescaped)
        query = text[question...].dropFirst().split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return URLQueryItem(name: name.unescaped, value: item[name.endIndex...].dropFirst().unescaped)
        }
    }

    func values(of name: String) -> [String] {
        query.lazy.filter { $0.name == name }.map { $0.value ?? "" }
    }

    var path: String { "/" + segments.joined(separator: "/") }
}

extension Target.Origin {
    fileprivate init(scheme: Substring, authority: Substring) {
        self.scheme = scheme.lowercased()
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // The colons within the brackets of an IPv6 address are before none that starts a port.
        let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 } ?? host.endIndex
        self.host = host[..<colon].lowercased()
        let port = Int(host[colon...].dropFirst())
        self.port = port == (self.scheme == "https" ? 443 : 80) ? nil : port
    }
}

extension Target.Origin: CustomStringConvertible {
    var description: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }
}

extension Substring {
    /// The text without its escapes, or as it is where they are none.
    fileprivate var unescaped: String {
        utf8.contains(UInt8(ascii: "%")) ? removingPercentEncoding ?? String(self) : String(self)
    }
}
