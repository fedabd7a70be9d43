import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CachedResponse {
    /// The answer to `request`: the whole, a range of it, its head, or a 304 if the app has it already. `nil` if ``answers(_:)`` is false.
    ///
    /// - Parameter status: The value of `Cache-Status`. By default, that of a hit.
    func response(to request: PreparedRequest, at now: Date, status cacheStatus: String? = nil) -> APIResponse? {
        var (status, body, fields) = (status, body, fields)
        let fresh = freshFor(at: now)
        fields["Age"] = "\(Int64(min(age(at: now), 2_147_483_648)))"
        fields["Cache-Status"] = cacheStatus ?? "\(CacheMiddleware.name); hit" + (fresh > 0 ? "" : "; ttl=\(Int64(max(fresh, -1e9)))")
        if isWhatTheAppHas(request) {
            (status, body) = (304, Data())
        } else if let range = request.range {
            guard let part = part(range) else { return nil }
            fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            fields["Content-Length"] = "\(part.count)"
            (status, body) = (206, body.subdata(in: part))
        }
        if request.method == .head { body = Data() }
        guard let head = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields) else {
            return nil
        }
        var response = APIResponse(request: request, response: head, data: body)
        response.isFromStore = cacheStatus == nil
        return response
    }

    /// Whether it has what `request` asks for: all, or a range that is there.
    func answers(_ request: PreparedRequest) -> Bool {
        request.range.map { isWhatTheAppHas(request) || part($0) != nil } ?? true
    }

    /// The bytes of a range are those of the body as it was sent.
    private func part(_ range: String) -> Range<Int>? {
        status == 200 && value("Content-Encoding") == nil ? body.range(range) : nil
    }

    /// Whether a condition of the app names this response (RFC 9110, sections 13.1.2 and 13.1.3).
    private func isWhatTheAppHas(_ request: PreparedRequest) -> Bool {
        guard 200..<300 ~= status else { return false }
        if let tags = request.headers["If-None-Match"] {
            let own = value("ETag")?.weakTag
            return tags.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == "*" || String($0).weakTag == own }
        }
        guard let since = request.headers["If-Modified-Since"].flatMap({ Date(httpDate: $0, now: received) }) else {
            return false
        }
        return (value("Last-Modified").flatMap { Date(httpDate: $0, now: received) } ?? received) <= since
    }

    /// Whether a 304 or the head of `response` is about this one.
    func isSame(as response: APIResponse) -> Bool {
        guard response.statusCode == 304 || response.statusCode == status else { return false }
        // A HEAD has the length of what a GET would get.
        let lengths = (response.value(forHTTPHeaderField: "Content-Length"), value("Content-Length"))
        if response.statusCode != 304, let new = lengths.0, let old = lengths.1, new != old { return false }
        if let tag = response.value(forHTTPHeaderField: "ETag") { return tag.weakTag == value("ETag")?.weakTag }
        if let modified = response.value(forHTTPHeaderField: "Last-Modified") { return modified == value("Last-Modified") }
        return response.statusCode != 304 || !hasValidator
    }

    /// Whether a 304 is about another response, by its entity tag.
    func isOther(than response: APIResponse) -> Bool {
        guard let tag = response.value(forHTTPHeaderField: "ETag"), let own = value("ETag") else { return false }
        return tag.weakTag != own.weakTag
    }

    /// Whether it may be used, stale, after an error (RFC 5861, section 4).
    func staleIfError(for request: PreparedRequest, at now: Date) -> Bool {
        guard mayBeStale, let window = request.cacheControl.seconds("stale-if-error") ?? freshness.ifError else { return false }
        return -freshFor(at: now) <= window
    }
}

extension PreparedRequest {
    /// The request with the conditions under which the server need not send `stored` again.
    func validating(_ stored: CachedResponse) -> PreparedRequest {
        var request = self
        request.headers["If-None-Match"] = stored.value("ETag")
        request.headers["If-Modified-Since"] = stored.value("Last-Modified")
        return request
    }

    /// Whether the app has a copy, and asks only for a newer one.
    var isConditional: Bool { has(oneOf: ["If-None-Match", "If-Modified-Since"]) }

    /// Whether it has conditions that only the server can judge.
    var hasOtherConditions: Bool { has(oneOf: ["If-Match", "If-Unmodified-Since", "If-Range"]) }

    /// The range that is asked for. Only a GET has one (RFC 9110, section 14.2).
    var range: String? { method == .head ? nil : headers["Range"] }

    /// Its own `Cache-Control`.
    var cacheControl: CacheControl { CacheControl(headers["Cache-Control"]) }

    private func has(oneOf names: [String]) -> Bool { names.contains { headers[$0] != nil } }
}

extension APIResponse {
    /// A redirect whose request has the headers of `asked`. What the cache and middlewares behind it have added must not travel to the
    /// target: they see to that request again.
    func withHeaders(of asked: PreparedRequest) -> APIResponse {
        guard 300..<400 ~= statusCode else { return self }
        var request = request
        for (name, _) in request.headers { request.headers[name] = asked.headers[name] }
        var redirect = APIResponse(request: request, response: response, data: data)
        redirect.isFromStore = isFromStore
        return redirect
    }

    /// Whether it is about the URL that its request has. A transport that follows redirects by itself has another one.
    var isOfItsURL: Bool {
        guard let url = response.url else { return true }
        let asked = request.url
        func path(_ url: URL) -> String { url.path.isEmpty ? "/" : url.path }
        return url.origin == asked.origin && path(url) == path(asked) && url.query == asked.query
    }
}

extension Int {
    /// Whether a response with this status says nothing about its URL: it is an error of the server, or a refusal.
    var isRefusal: Bool { self >= 500 || [401, 403, 407, 408, 429].contains(self) }
}

extension URL {
    /// What follows ``cacheKey``, so that requests without a credential or cookies do not share responses with others.
    static func cacheKind(isAuthenticated: Bool, hasCookies: Bool) -> String {
        cacheKinds[(isAuthenticated ? 0 : 1) + (hasCookies ? 0 : 2)]
    }

    static let cacheKinds = ["", "#anonymous", "#cookieless", "#anonymous-cookieless"]

    /// The URL without its fragment.
    var cacheKey: String {
        let text = absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}

extension String {
    /// An entity tag as it is compared weakly (RFC 9110, section 8.8.3.2).
    fileprivate var weakTag: String {
        let tag = trimmingCharacters(in: .whitespaces)
        return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }
}

extension Data {
    /// The bytes of a single range (RFC 9110, section 14.1.2); `nil` for several, and for one that is not there.
    fileprivate func range(_ field: String) -> Range<Int>? {
        guard field.hasPrefix("bytes="), !field.contains(",") else { return nil }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { Int($0) }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?) where first <= last && first < count: return first..<Swift.min(last, count - 1) + 1
        case (let first?, nil) where ends[1].isEmpty && first < count: return first..<count
        case (nil, let suffix?) where ends[0].isEmpty && suffix > 0 && !isEmpty: return Swift.max(0, count - suffix)..<count
        default: return nil
        }
    }
}
