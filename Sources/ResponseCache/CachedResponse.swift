import APIProvider
import Foundation

/// A response in a ``CacheStore``.
struct CachedResponse: Sendable, Equatable {
    /// The status code.
    let status: Int
    /// The header fields, without hop-by-hop fields (RFC 9111, section 3.1).
    let fields: [String: String]
    /// The body, decoded as its Content-Encoding says.
    let body: Data
    /// When the request or the last validation was sent.
    let requestTime: Date
    /// When its response arrived.
    let responseTime: Date
    /// The values of the request headers that `Vary` names, by lowercase name, as ``SentFields`` has them.
    let varyFields: [String: String]
    let freshness: Freshness

    /// Creates a response.
    init(
        status: Int, fields: [String: String], body: Data, requestTime: Date, responseTime: Date, varyFields: [String: String] = [:]
    ) {
        (self.status, self.fields, self.body, self.varyFields) = (status, fields, body, varyFields)
        (self.requestTime, self.responseTime) = (requestTime.inBounds, responseTime.inBounds)
        freshness = Freshness(status, fields, requestTime: self.requestTime, responseTime: self.responseTime)
    }

    /// The value of the field `name`. Names are compared case-insensitively.
    func value(_ name: String) -> String? { fields.value(name) }

    /// About how many bytes it takes in memory.
    var size: Int {
        [fields, varyFields].joined().reduce(200 + body.count) { $0 + 64 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// How old it is, in seconds.
    func age(at now: Date) -> TimeInterval { freshness.initialAge + max(0, now.timeIntervalSince(responseTime)) }

    /// The seconds until it is stale. Negative: the seconds since it became stale. If `now` is before it arrived, the clock has been
    /// changed and the age is unknown, so it counts as stale.
    func remainingFreshness(at now: Date) -> TimeInterval { now < responseTime ? -.infinity : freshness.lifetime - age(at: now) }

    /// Whether it may be used when it is stale.
    var mayBeUsedStale: Bool { !freshness.mustNotBeStale && !freshness.isNoCache }

    var hasValidator: Bool { value("ETag") != nil || value("Last-Modified") != nil }
}

extension CachedResponse: Codable {
    private enum CodingKeys: CodingKey { case status, fields, body, requestTime, responseTime, varyFields }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            status: try values.decode(Int.self, forKey: .status), fields: try values.decode([String: String].self, forKey: .fields),
            body: try values.decode(Data.self, forKey: .body), requestTime: try values.decode(Date.self, forKey: .requestTime),
            responseTime: try values.decode(Date.self, forKey: .responseTime),
            varyFields: try values.decode([String: String].self, forKey: .varyFields))
    }
}

extension CachedResponse {
    /// The new response has no ``varyFields`` yet: ``storable(for:sent:before:after:)`` sets them.
    init(_ response: APIResponse, requestTime: Date, responseTime: Date) {
        self.init(
            status: response.statusCode, fields: response.httpResponse.headerFields.withoutHopByHopFields, body: response.data,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this response with the fields of a 304 (RFC 9111, sections 3.2 and 4.3.4). The result has no ``varyFields`` yet:
    /// ``storable(for:sent:before:after:)`` sets them.
    func updated(by response: APIResponse, requestTime: Date, responseTime: Date) -> CachedResponse {
        let new = response.httpResponse.headerFields.withoutHopByHopFields.removing(["content-length", "content-encoding", "content-range"])
        let old = fields.removing(Set(["age", "date"] + new.keys.map { $0.lowercased() }))
        return CachedResponse(
            status: status, fields: old.merging(new) { $1 }, body: body, requestTime: requestTime, responseTime: responseTime)
    }
}

private let hopByHop: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
]

extension [String: String] {
    /// The value of the field `name`. Names are compared case-insensitively.
    func value(_ name: String) -> String? { self[name] ?? first { $0.key.isField(name) }?.value }

    /// The members of a list field, in lowercase.
    func members(of name: String) -> [String] {
        (value(name) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    fileprivate var withoutHopByHopFields: [String: String] { removing(hopByHop.union(members(of: "Connection"))) }

    func removing(_ lowercasedNames: Set<String>) -> [String: String] {
        filter { !lowercasedNames.contains($0.key.lowercased()) }
    }
}

extension Date {
    /// The date, clamped to the years 1970 to 5138. A file may have any date, and arithmetic with some of them would trap.
    fileprivate var inBounds: Date {
        let bounds = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e11))
        return self > bounds.0 ? min(self, bounds.1) : bounds.0
    }
}

extension [CachedResponse] {
    /// The most recent by `Date` (RFC 9111, section 4), and of those the last.
    var newest: CachedResponse? {
        reduce(nil) { newest, next in newest.map { $0.freshness.date > next.freshness.date } == true ? newest : next }
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
