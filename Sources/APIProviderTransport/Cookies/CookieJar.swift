import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stores and sends cookies for a network stack that handles none (RFC 6265bis, section 5).
struct CookieJar: Sendable {
    @HiddenFromReflection private var storage: Storage
    var sendsCookies = true
    var acceptsCookies = true

    /// A given storage, or one created at the first cookie: the creation costs more than a request.
    private enum Storage: Sendable {
        case given(HTTPCookieStorage)
        case onDemand(Locked<HTTPCookieStorage?>)

        var existing: HTTPCookieStorage? {
            switch self {
            case .given(let storage): storage
            case .onDemand(let storage): storage.withLock { $0 }
            }
        }
    }

    init(storage: HTTPCookieStorage, sendsCookies: Bool = true, acceptsCookies: Bool = true) {
        (self.storage, self.sendsCookies, self.acceptsCookies) = (.given(storage), sendsCookies, acceptsCookies)
    }

    /// Creates cookies in memory.
    init() { storage = .onDemand(Locked(nil)) }

    private var storageForNewCookie: HTTPCookieStorage? {
        guard case .onDemand(let storage) = storage else { return storage.existing }
        let new = URLSessionConfiguration.ephemeral.httpCookieStorage
        return storage.withLock { storage in
            storage = storage ?? new
            return storage
        }
    }

    /// The `Cookie` header for `request`; `nil` without cookies, or if the request already has that header.
    func header(for request: PreparedRequest) -> String? {
        guard sendsCookies, request.handlesCookies, request.headers["Cookie"] == nil, let storage = storage.existing,
            storage.cookies?.isEmpty == false
        else { return nil }
        return storage.header(for: request.url)
    }

    /// Stores the cookies in the `response` to `request`.
    func storeCookies(of response: HTTPURLResponse, to request: PreparedRequest) {
        guard acceptsCookies, request.handlesCookies, let url = response.url,
            let fields = response.joinedValue(forHTTPHeaderField: "Set-Cookie"), let storage = storageForNewCookie
        else { return }
        // More would not be kept.
        for field in fields.setCookieFields.suffix(HTTPCookieStorage.maxPerHost) {
            if let cookie = SetCookie(field), let host = url.host?.lowercased() { storage.store(cookie, from: url, host: host) }
        }
        storage.removeExcess(for: url)
    }
}

// MARK: - Storing and sending

extension HTTPCookieStorage {
    fileprivate static let maxPerHost = 180
    private static let maxHeaderSize = 8192

    /// RFC 6265bis, section 5.7, without the list of public suffixes and without SameSite.
    fileprivate func store(_ cookie: SetCookie, from url: URL, host: String) {
        let isSecureOrigin = url.scheme?.lowercased() == "https"
        let path = cookie.path ?? url.defaultCookiePath
        guard let domain = cookie.domain(from: host), isSecureOrigin || !cookie.isSecure,
            cookie.satisfiesNamePrefix(isHostOnly: domain == host),
            isSecureOrigin || !hasSecureCookie(named: cookie.name, domain: domain, path: path)
        else { return }

        var properties: [HTTPCookiePropertyKey: Any] = [.name: cookie.name, .value: cookie.value, .domain: domain, .path: path]
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        properties[.expires] = cookie.expires
        let old = cookies(for: url)?.first { $0.name == cookie.name && $0.domain == domain && $0.path == path }
        if let new = DatedCookie(properties: properties, created: old?.created) { setCookie(new) }
    }

    private func hasSecureCookie(named name: String, domain: String, path: String) -> Bool {
        (cookies ?? []).contains { old in
            old.isSecure && old.name == name && path.matches(cookiePath: old.path)
                && (old.domain.matches(cookieDomain: domain) || domain.matches(cookieDomain: old.domain))
        }
    }

    fileprivate func removeExcess(for url: URL) {
        let all = cookies(for: url) ?? []
        guard all.count > Self.maxPerHost else { return }
        all.sorted { $0.isSecure ? 1 : 0 }.prefix(all.count - Self.maxPerHost).forEach(deleteCookie)
    }

    /// A Cookie header's value for `url`; `nil` without cookies.
    fileprivate func header(for url: URL, at date: Date = Date()) -> String? {
        // On Linux, the storage compares only the host, and returns cookies in no order.
        let cookies = (cookies(for: url) ?? []).filter { $0.isMeant(for: url) && $0.expiresDate ?? .distantFuture > date }
            .sorted { -$0.path.utf8.count }
        let header = cookies.reduce(into: "") { header, cookie in
            let text = (header.isEmpty ? "" : "; ") + (cookie.name.isEmpty ? "" : "\(cookie.name)=") + cookie.value
            if header.utf8.count + text.utf8.count <= Self.maxHeaderSize { header += text }
        }
        return header.isEmpty ? nil : header
    }
}

/// A cookie with the replaced cookie's creation time. On Linux, Foundation gives each cookie the current time.
private final class DatedCookie: HTTPCookie, @unchecked Sendable {  // Only adds a stored `let` of a Sendable type.
    private let firstCreated: TimeInterval?

    init?(properties: [HTTPCookiePropertyKey: Any], created: TimeInterval?) {
        firstCreated = created
        super.init(properties: properties)
    }

    override var properties: [HTTPCookiePropertyKey: Any]? {
        var properties = super.properties
        if let firstCreated { properties?[.created] = firstCreated }
        return properties
    }
}

extension HTTPCookiePropertyKey {
    fileprivate static let created = HTTPCookiePropertyKey("Created")
}

// MARK: - Matching

extension [HTTPCookie] {
    /// The cookies in the order of `rank`, and of the same rank the oldest first.
    fileprivate func sorted(by rank: (HTTPCookie) -> Int) -> [HTTPCookie] {
        sorted { (rank($0), $0.created) < (rank($1), $1.created) }
    }
}

extension HTTPCookie {
    fileprivate func isMeant(for url: URL) -> Bool {
        (!isSecure || url.scheme?.lowercased() == "https") && url.cookiePath.matches(cookiePath: path)
    }

    fileprivate var created: TimeInterval { properties?[.created] as? TimeInterval ?? 0 }
}

extension URL {
    fileprivate var cookiePath: String { URLComponents(url: self, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? "" }

    /// RFC 6265bis, section 5.1.4.
    fileprivate var defaultCookiePath: String {
        let path = cookiePath
        guard path.hasPrefix("/"), let end = path.lastIndex(of: "/"), end > path.startIndex else { return "/" }
        return String(path[..<end])
    }
}

extension String {
    /// Whether this path is inside a cookie's.
    fileprivate func matches(cookiePath path: String) -> Bool {
        path == "/" || self == path || hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    /// Whether this host is a cookie's, or a subdomain. A domain with subdomains begins with a dot.
    fileprivate func matches(cookieDomain domain: String) -> Bool {
        let (name, domain) = (drop { $0 == "." }, domain.drop { $0 == "." })
        return name == domain || name.hasSuffix(".\(domain)")
    }
}
