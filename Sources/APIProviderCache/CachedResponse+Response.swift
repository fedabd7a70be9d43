import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CachedResponse {
    /// This cache's name in the header `Cache-Status` (RFC 9211).
    static let cacheName = "APIProviderCache"

    /// Returns the answer to `request`: the whole response, a range, the head, or a 304 for an app that already has this response. Returns
    /// `nil` for a missing range.
    ///
    /// - Parameter cacheStatus: The cache's handling of the request, for `Cache-Status` (RFC 9211).
    func response(to request: PreparedRequest, at now: Date, cacheStatus: String) -> APIResponse? {
        var (statusCode, headers, data) = (statusCode, headers, data)
        let remaining = remainingFreshness(at: now)
        let ttl = remaining > 0 ? "" : "; ttl=\(Int64(max(remaining, -1e9)))"
        headers["Age"] = "\(Int64(min(age(at: now), 2_147_483_648)))"
        headers["Cache-Status"] = "\(CachedResponse.cacheName); \(cacheStatus)\(ttl)"
        if isNotModified(for: request) {
            (statusCode, data) = (304, Data())
        } else if let range = request.range {
            guard let part = byteRange(of: range) else { return nil }
            headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(data.count)"
            headers["Content-Length"] = "\(part.count)"
            (statusCode, data) = (206, data.subdata(in: part))
        }
        if request.method == .head { data = Data() }
        // A file may have any status code.
        guard
            let head = HTTPURLResponse(
                url: request.url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: headers.dictionary)
        else { return nil }
        return APIResponse(request: request, httpResponse: head, data: data)
    }

    /// Whether the response has the range of `request`, if any.
    func satisfiesRange(of request: PreparedRequest) -> Bool {
        request.range.map { isNotModified(for: request) || byteRange(of: $0) != nil } ?? true
    }

    /// The bytes named by a `Range` field.
    private func byteRange(of field: String) -> Range<Int>? {
        // A range counts bytes of the encoded body, which is not stored.
        guard statusCode == 200, headers["Content-Encoding"] == nil, field.hasPrefix("bytes=") else { return nil }
        return field.byteRange(of: data.count).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether the app already has this response, by the request's `If-None-Match` or `If-Modified-Since` (RFC 9110, sections 13.1.2 and
    /// 13.1.3).
    private func isNotModified(for request: PreparedRequest) -> Bool {
        guard 200..<300 ~= statusCode else { return false }
        if let tags = request.headers["If-None-Match"] {
            let own = headers["ETag"]?.weakTag
            return tags.parts(between: UInt8(ascii: ",")).contains {
                $0.trimmingCharacters(in: .whitespaces) == "*" || own?.hasSameBytes(as: String($0).weakTag) == true
            }
        }
        guard let since = request.headers["If-Modified-Since"].flatMap({ Date(httpDate: $0, now: responseTime) }) else {
            return false
        }
        return (headers["Last-Modified"].flatMap { Date(httpDate: $0, now: responseTime) } ?? responseTime) <= since
    }

    // MARK: - Validation

    /// Whether a 304 may update this response (RFC 9111, section 4.3.4).
    func canBeUpdated(by response: APIResponse) -> Bool {
        if let tag = response.value(forHTTPHeaderField: "ETag") { return headers["ETag"]?.weakTag.hasSameBytes(as: tag.weakTag) == true }
        if let modified = response.value(forHTTPHeaderField: "Last-Modified") {
            return headers["Last-Modified"]?.hasSameBytes(as: modified) == true
        }
        return !hasValidator
    }

    /// Whether both have entity tags, and different ones.
    func hasDifferentETag(from response: APIResponse) -> Bool {
        guard let tag = response.value(forHTTPHeaderField: "ETag"), let own = headers["ETag"] else { return false }
        return !tag.weakTag.hasSameBytes(as: own.weakTag)
    }

    /// Whether a stale response may be used after an error (RFC 5861, section 4).
    func mayBeUsedStaleAfterError(for request: PreparedRequest, at now: Date) -> Bool {
        guard mayBeUsedStale, let window = request.cacheControl.seconds("stale-if-error") ?? freshness.staleIfError else { return false }
        return -remainingFreshness(at: now) <= window
    }
}

// MARK: - Requests

extension PreparedRequest {
    /// Returns the request with conditions, so that the server answers 304 if `stored` is still valid.
    func validating(_ stored: CachedResponse) -> PreparedRequest {
        var request = self
        request.headers["If-None-Match"] = stored.headers["ETag"]
        request.headers["If-Modified-Since"] = stored.headers["Last-Modified"]
        return request
    }

    /// Whether the app sends validators, to get only a newer response.
    var asksIfModified: Bool { hasAny(of: ["If-None-Match", "If-Modified-Since"]) }

    /// Whether the request has conditions for the server to evaluate.
    var hasServerConditions: Bool { hasAny(of: ["If-Match", "If-Unmodified-Since", "If-Range"]) }

    /// The `Range` of a GET (RFC 9110, section 14.2).
    var range: String? { method == .head ? nil : headers["Range"] }

    var cacheControl: CacheControl { CacheControl(headers["Cache-Control"]) }

    /// The request's key in a store. Requests with and without a credential do not share responses, nor do requests with and without
    /// cookies.
    var cacheKey: String { url.absoluteString + cacheKeySuffixes[(options.isAuthenticated ? 0 : 1) + (handlesCookies ? 0 : 2)] }

    private func hasAny(of names: [String]) -> Bool { names.contains { headers[$0] != nil } }
}

// MARK: - The server's responses

extension APIResponse {
    /// The response to an `only-if-cached` request without a stored response (RFC 9111, section 5.2.1.7).
    static func notStored(_ request: PreparedRequest, isStale: Bool) -> APIResponse {
        let cacheStatus = "\(CachedResponse.cacheName); fwd=\(isStale ? "stale" : "uri-miss"); detail=only-if-cached"
        return APIResponse(to: request, statusCode: 504, headers: ["Cache-Status": cacheStatus])
    }

    /// For a redirect, restores the headers of the `received` request, so that later middlewares' headers do not reach the new URL. A
    /// header removed by a later middleware stays removed. Other responses are unchanged.
    func withRequestHeaders(of received: PreparedRequest) -> APIResponse {
        guard 300..<400 ~= statusCode else { return self }
        var request = request
        for (name, _) in request.headers { request.headers[name] = received.headers[name] }
        var redirect = APIResponse(request: request, httpResponse: httpResponse, data: data)
        redirect.isFromCache = isFromCache
        return redirect
    }

    /// The URL in the field `name`, if in the same origin as `received` and `request`.
    ///
    /// `received` is the cache's request. `request` may be a later one, if the transport followed a redirect.
    func target(of name: String, from received: PreparedRequest) -> URL? {
        guard let target = value(forHTTPHeaderField: name).flatMap({ URL(reference: $0, from: request.url) }),
            target.origin == received.url.origin, target.origin == request.url.origin
        else { return nil }
        return target
    }
}

extension Int {
    /// Whether the server failed or refuses, without a word about the URL's content.
    var isFailureOrRefusal: Bool { self >= 500 || [401, 403, 407, 408, 429].contains(self) }
}

// MARK: - Keys and entity tags

private let cacheKeySuffixes = ["", "#anonymous", "#cookieless", "#anonymous-cookieless"]

extension URL {
    /// The keys of all the URL's responses.
    var cacheKeys: [String] { cacheKeySuffixes.map { withoutFragment + $0 } }

    var withoutFragment: String {
        let text = absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}

extension String {
    /// The entity tag for weak comparison (RFC 9110, section 8.8.3.2).
    fileprivate var weakTag: String {
        let tag = trimmingCharacters(in: .whitespaces)
        return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }
}
