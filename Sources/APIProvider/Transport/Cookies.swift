import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The request with the cookies of `storage`, unless it has its own.
    func with(_ storage: HTTPCookieStorage) -> URLRequest {
        guard let url, httpShouldHandleCookies, value(forHTTPHeaderField: "Cookie") == nil,
            let header = storage.header(for: url)
        else { return self }
        var request = self
        request.setValue(header, forHTTPHeaderField: "Cookie")
        return request
    }
}

extension HTTPCookieStorage {
    /// Keeps the cookies of `response`.
    func store(_ response: HTTPURLResponse) {
        guard let url = response.url, let header = response.values(forHTTPHeaderField: "Set-Cookie") else { return }
        setCookies(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": header], for: url), for: url, mainDocumentURL: nil)
    }

    /// The value of a Cookie header for `url` (RFC 6265, section 5.4); `nil` if there are no cookies for it.
    fileprivate func header(for url: URL, at date: Date = Date()) -> String? {
        // On Linux the storage looks at the host alone: a secure cookie would go out in the clear. Nor does it know an order.
        let cookies = (cookies(for: url) ?? []).filter { $0.isMeant(for: url) && !$0.hasExpired(at: date) }
            .sorted { ($1.path.utf8.count, $0.created) < ($0.path.utf8.count, $1.created) }
        return cookies.isEmpty ? nil : HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
}

extension HTTPCookie {
    fileprivate func isMeant(for url: URL) -> Bool {
        guard !isSecure || url.scheme?.lowercased() == "https" else { return false }
        let requested = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return path == "/" || requested == path || requested.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    /// RFC 6265, section 5.3: of a Max-Age, which wins, Foundation only keeps the text.
    fileprivate func hasExpired(at date: Date) -> Bool {
        guard let age = properties?[.maximumAge] as? String, let seconds = Double(age) else {
            return expiresDate.map { $0 <= date } ?? false
        }
        return created + max(seconds, 0) <= date.timeIntervalSinceReferenceDate
    }

    fileprivate var created: TimeInterval { properties?[HTTPCookiePropertyKey("Created")] as? TimeInterval ?? 0 }
}
