import APIProvider
import Foundation

/// A response in a ``CacheStore``.
struct CachedResponse: Sendable, Equatable {
    /// The status code.
    let statusCode: Int
    /// The header fields, without hop-by-hop fields (RFC 9111, section 3.1).
    let headers: HTTPHeaders
    /// The body, decoded as its Content-Encoding says.
    let data: Data
    /// The time at which the request or the last validation was sent.
    let requestTime: Date
    /// The time at which its response arrived.
    let responseTime: Date
    /// The values of the request headers that `Vary` names, by lowercase name, as ``SentHeaders`` has them.
    let varyValues: [String: String]
    let freshness: Freshness

    init(
        statusCode: Int, headers: HTTPHeaders, data: Data, requestTime: Date, responseTime: Date, varyValues: [String: String] = [:]
    ) {
        (self.statusCode, self.headers, self.data, self.varyValues) = (statusCode, headers, data, varyValues)
        (self.requestTime, self.responseTime) = (requestTime.clamped, responseTime.clamped)
        freshness = Freshness(statusCode, headers, requestTime: self.requestTime, responseTime: self.responseTime)
    }

    /// The approximate number of bytes that it takes in memory.
    var size: Int {
        func size(_ name: String, _ value: String) -> Int { 64 + name.utf8.count + value.utf8.count }
        return headers.reduce(200 + data.count) { $0 + size($1.name, $1.value) } + varyValues.reduce(0) { $0 + size($1.key, $1.value) }
    }

    /// Its age in seconds.
    func age(at now: Date) -> TimeInterval { freshness.initialAge + max(0, now.timeIntervalSince(responseTime)) }

    /// The seconds until it is stale. Negative: the seconds since it became stale. If `now` is before it arrived, the clock has been
    /// changed and the age is unknown, so it counts as stale.
    func remainingFreshness(at now: Date) -> TimeInterval { now < responseTime ? -.infinity : freshness.lifetime - age(at: now) }

    /// Whether it may be used when it is stale.
    var mayBeUsedStale: Bool { !freshness.mustRevalidate && !freshness.requiresValidation }

    var hasValidator: Bool { headers["ETag"] != nil || headers["Last-Modified"] != nil }
}

// MARK: - Responses of a server

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
    /// The members of a list field, in lowercase.
    func members(of name: String) -> [String] {
        (self[name] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    fileprivate var withoutHopByHopFields: HTTPHeaders { removing(hopByHop.union(members(of: "Connection"))) }

    /// A server may send thousands of fields, so this and `updated(by:)` set none of them one by one.
    fileprivate func removing(_ lowercasedNames: Set<String>) -> HTTPHeaders {
        HTTPHeaders(filter { !lowercasedNames.contains($0.name.lowercased()) }.map { (key: $0.name, value: $0.value) })
    }
}

extension Date {
    /// The date, clamped to the years 1970 to 5138. A file may have any date, and arithmetic with some of them would trap.
    fileprivate var clamped: Date {
        let bounds = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e11))
        return self > bounds.0 ? min(self, bounds.1) : bounds.0
    }
}

// MARK: - Responses of a key

extension [CachedResponse] {
    /// The most recent by `Date` (RFC 9111, section 4), and of those the last.
    var mostRecent: CachedResponse? {
        reduce(nil) { latest, next in latest.map { $0.freshness.date > next.freshness.date } == true ? latest : next }
    }

    /// Returns the last responses that together take at most `maxBytes`.
    func suffix(maxBytes: Int) -> [CachedResponse] {
        var room = maxBytes
        return reversed().prefix {
            room -= $0.size
            return room >= 0
        }.reversed()
    }
}
