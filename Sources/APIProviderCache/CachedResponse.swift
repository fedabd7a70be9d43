import APIProvider
import Foundation

/// A response in a ``CacheStore``.
struct CachedResponse: Sendable, Equatable {
    /// The status code.
    let statusCode: Int
    /// The header fields, without hop-by-hop fields (RFC 9111, section 3.1).
    let headers: HTTPHeaders
    /// The decoded body.
    let data: Data
    /// When the request or the last validation was sent.
    let requestTime: Date
    /// When the response or the last 304 arrived.
    let responseTime: Date
    /// The values of the request headers in `Vary`, by lowercase name, from ``SentHeaders``.
    let varyValues: [String: String]
    let freshness: Freshness

    init(
        statusCode: Int, headers: HTTPHeaders, data: Data, requestTime: Date, responseTime: Date, varyValues: [String: String] = [:]
    ) {
        (self.statusCode, self.headers, self.data, self.varyValues) = (statusCode, headers, data, varyValues)
        (self.requestTime, self.responseTime) = (requestTime.clamped, responseTime.clamped)
        freshness = Freshness(statusCode, headers, requestTime: self.requestTime, responseTime: self.responseTime)
    }

    /// The approximate size in memory, in bytes.
    var size: Int {
        func size(_ name: String, _ value: String) -> Int { 64 + name.utf8.count + value.utf8.count }
        return headers.reduce(200 + data.count) { $0 + size($1.name, $1.value) } + varyValues.reduce(0) { $0 + size($1.key, $1.value) }
    }

    /// The age in seconds.
    func age(at now: Date) -> TimeInterval { freshness.initialAge + max(0, now.timeIntervalSince(responseTime)) }

    /// The remaining lifetime in seconds; negative for a stale response. If `now` is before the arrival, the clock changed and the age is
    /// unknown, so the response counts as stale.
    func remainingFreshness(at now: Date) -> TimeInterval { now < responseTime ? -.infinity : freshness.lifetime - age(at: now) }

    /// Whether the response may be used stale.
    var mayBeUsedStale: Bool { !freshness.mustRevalidate && !freshness.requiresValidation }

    var hasValidator: Bool { headers["ETag"] != nil || headers["Last-Modified"] != nil }
}

// MARK: - The server's responses

extension CachedResponse {
    /// Creates a response without ``varyValues``: ``storable(for:sent:headersBefore:headersNow:)`` sets them.
    init(_ response: APIResponse, requestTime: Date, responseTime: Date) {
        self.init(
            statusCode: response.statusCode, headers: response.headers.withoutHopByHopFields, data: response.data,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this response with the fields of a 304 (RFC 9111, sections 3.2 and 4.3.4). The result has no ``varyValues`` yet:
    /// ``storable(for:sent:headersBefore:headersNow:)`` sets them.
    func updated(by response: APIResponse, requestTime: Date, responseTime: Date) -> CachedResponse {
        let new = response.headers.withoutHopByHopFields.removing(["content-length", "content-encoding", "content-range"])
        let all = [headers.removing(["age", "date"]), new].joined().map { (key: $0.name, value: $0.value) }
        return CachedResponse(
            statusCode: statusCode, headers: HTTPHeaders(all), data: data, requestTime: requestTime, responseTime: responseTime)
    }
}

private let hopByHop: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
]

extension HTTPHeaders {
    /// A list field's members, in lowercase.
    func members(of name: String) -> [String] {
        let members = (self[name] ?? "").parts(between: UInt8(ascii: ","))
        return members.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    fileprivate var withoutHopByHopFields: HTTPHeaders { removing(hopByHop.union(members(of: "Connection"))) }

    /// A server may send thousands of fields, so this and `updated(by:)` set them together.
    fileprivate func removing(_ lowercasedNames: Set<String>) -> HTTPHeaders {
        HTTPHeaders(filter { !lowercasedNames.contains($0.name.lowercased()) }.map { (key: $0.name, value: $0.value) })
    }
}

extension Date {
    /// The date, clamped to the years 1970 to 5138: arithmetic with some dates in a file would trap.
    fileprivate var clamped: Date {
        let bounds = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e11))
        return self > bounds.0 ? min(self, bounds.1) : bounds.0
    }
}

// MARK: - A key's responses

extension [CachedResponse] {
    /// The most recent by `Date` (RFC 9111, section 4), and the last of several.
    var mostRecent: CachedResponse? {
        reduce(nil) { latest, next in latest.map { $0.freshness.date > next.freshness.date } == true ? latest : next }
    }

    /// Returns the last responses within `maxBytes` together.
    func suffix(maxBytes: Int) -> [CachedResponse] {
        var room = maxBytes
        return reversed().prefix {
            room -= $0.size
            return room >= 0
        }.reversed()
    }
}
