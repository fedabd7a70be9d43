import Foundation

/// A Set-Cookie field's cookie and attributes (RFC 6265bis, section 5.6).
struct SetCookie {
    let name: String
    let value: String
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// `nil` leaves the path to the URL.
    private(set) var path: String?
    /// Lowercase, without a leading dot. Empty means the host only, without subdomains.
    private var domain = ""
    private var maxAgeEnd: Date?
    private var expiresAttribute: Date?

    /// `nil` for a field without a cookie.
    init?(_ field: String) {
        guard !field.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else { return nil }
        let parts = field.parts(between: UInt8(ascii: ";")).map(Self.pair)
        (name, value) = parts[0].value.map { (parts[0].name, $0) } ?? ("", parts[0].name)
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= 4096 else { return nil }
        // The last of a repeated attribute wins.
        for attribute in parts.dropFirst() where (attribute.value ?? "").utf8.count <= 1024 {
            set(attribute.name.lowercased(), attribute.value ?? "")
        }
    }

    private static func pair(_ text: Substring) -> (name: String, value: String?) {
        let (name, value) = text.split(at: UInt8(ascii: "="))
        return (String(name).withoutOuterSpace, value.map { String($0).withoutOuterSpace })
    }

    private mutating func set(_ attribute: String, _ text: String) {
        switch attribute {
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "path": path = text.utf8.first == UInt8(ascii: "/") ? text : nil
        case "domain": domain = String(text.hasPrefix(".") ? text.dropFirst() : text[...]).lowercased()
        case "expires": expiresAttribute = Date(cookieDate: text) ?? expiresAttribute
        case "max-age":
            guard let first = text.utf8.first, let seconds = Double(text), text.dropFirst().utf8.allSatisfy(\.isDigit),
                first == UInt8(ascii: "-") || first.isDigit
            else { return }
            maxAgeEnd = seconds > 0 ? Date() + min(seconds, 1e10) : .distantPast
        default: break
        }
    }

    // MARK: - Rules

    /// The cookie's expiry; `nil` for a session cookie. Max-Age takes precedence over Expires.
    var expires: Date? { maxAgeEnd ?? expiresAttribute }

    /// The cookie's domain, with a leading dot to include subdomains; `nil` if `host` may not set the cookie.
    func domain(from host: String) -> String? {
        // No cookie may include the subdomains of an address or a public suffix.
        let mustBeHostOnly = host.isAddress || domain.isPublicSuffix
        if domain.isEmpty || domain == host && mustBeHostOnly { return host }
        return domain == host || host.hasSuffix(".\(domain)") && !mustBeHostOnly ? ".\(domain)" : nil
    }

    /// Whether the cookie meets the requirements of a `__Host-` or `__Secure-` prefix in the name (section 4.1.3).
    func satisfiesNamePrefix(isHostOnly: Bool) -> Bool {
        let name = (name.isEmpty ? value : name).lowercased()
        if name.hasPrefix("__host-") { return !self.name.isEmpty && isSecure && isHostOnly && path == "/" }
        return !name.hasPrefix("__secure-") || !self.name.isEmpty && isSecure
    }
}

// MARK: - Fields and domains

extension HTTPHeaders {
    /// A response's single `Set-Cookie` fields.
    @_spi(Transports) public var setCookieFields: [String] { self["Set-Cookie"]?.setCookieFields ?? [] }
}

extension String {
    /// Splits Set-Cookie fields joined by `HTTPURLResponse` with ", ". A comma before a name, maybe empty, and "=" begins a new cookie, unlike
    /// a date's comma.
    var setCookieFields: [String] {
        // No field has a line break.
        let pieces = replacingOccurrences(of: ", ", with: "\n", options: .literal).parts(between: UInt8(ascii: "\n"))
        return pieces.reduce(into: []) { fields, piece in
            let name = piece.utf8.prefix { $0 != UInt8(ascii: "=") }
            if let last = fields.indices.last, name.count == piece.utf8.count || name.contains(where: " ;\t".utf8.contains) {
                fields[last] += ", \(piece)"
            } else {
                fields.append(String(piece))
            }
        }
    }

    /// The names and values of the cookies in Set-Cookie fields joined with ", ".
    package var setCookies: [(name: String, value: String)] {
        setCookieFields.compactMap { SetCookie($0).map { ($0.name, $0.value) } }
    }

    /// A host's labels.
    private var labels: [Substring] { parts(between: UInt8(ascii: ".")).filter { !$0.isEmpty } }

    /// Whether this host is an IP address.
    fileprivate var isAddress: Bool {
        contains(":") || labels.last?.utf8.allSatisfy(\.isDigit) == true
    }

    /// Whether this domain is shared by many owners, such as "com" and "co.uk". A guess without the list of public suffixes.
    fileprivate var isPublicSuffix: Bool {
        guard labels.count == 2 else { return labels.count < 2 }
        return labels[1].utf8.count == 2 && ["ac", "co", "com", "edu", "gov", "mil", "ne", "net", "or", "org"].contains(labels[0])
    }
}
