package import Foundation

extension URL {
    /// Resolves a reference, such as a Location, in a header field of the response from `url` (RFC 3986, section 5).
    package init?(reference: String, from url: URL?) {
        guard let target = URL(string: reference.escapedAsURL, relativeTo: url)?.absoluteURL else { return nil }
        // Foundation resolves dot segments in relative references only.
        self = target.dotSegment == nil ? target : target.standardized
    }

    /// The path's first `.` or `..` segment. A network stack or a proxy would resolve it (RFC 3986, section 5.2.4).
    var dotSegment: Substring? {
        let text = absoluteString
        guard text.withCString({ strstr($0, "/.") ?? strstr($0, "/%2") }) != nil else { return nil }
        return URIReference(text).path.parts(between: UInt8(ascii: "/")).first {
            [".", ".."].contains($0.replacingOccurrences(of: "%2e", with: ".", options: [.literal, .caseInsensitive]))
        }
    }

    /// The URL without user name and password. Linux would send them, unlike Apple's systems.
    var withoutUserInfo: URL {
        guard user != nil || password != nil, var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (components.user, components.password) = (nil, nil)
        return components.url ?? self
    }

    /// The URL without the fragment.
    var withoutFragment: URL {
        let text = absoluteString
        guard text.withCString({ strchr($0, CInt(UInt8(ascii: "#"))) }) != nil else { return self }
        return URL(string: String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)) ?? self
    }

    /// Scheme, host and port (RFC 6454, section 4).
    package var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
