import APIProvider
public import Foundation

/// A response in a ``CacheStore``.
public struct CachedResponse: Sendable, Equatable {
    /// The status code.
    public let status: Int
    /// The header fields, without hop-by-hop fields (RFC 9111, section 3.1).
    public let fields: [String: String]
    /// The body, decoded as its Content-Encoding says.
    public let body: Data
    /// When the request or the last validation was sent.
    public let requestTime: Date
    /// When its response arrived.
    public let responseTime: Date
    /// The values of the request headers that `Vary` names, by lowercase name. A missing value is empty.
    public let varyFields: [String: String]
    let freshness: Freshness

    /// Creates a response.
    public init(
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

extension CachedResponse {
    /// The new response has no ``varyFields`` yet: ``storable(for:sent:)`` sets them.
    init(_ response: APIResponse, requestTime: Date, responseTime: Date) {
        self.init(
            status: response.statusCode, fields: response.response.headerFields.withoutHopByHopFields, body: response.data,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this response with the fields of a 304 or of a HEAD (RFC 9111, sections 3.2 and 4.3.4). The result has no ``varyFields``
    /// yet: ``storable(for:sent:)`` sets them.
    func updated(by response: APIResponse, requestTime: Date, responseTime: Date) -> CachedResponse {
        let new = response.response.headerFields.withoutHopByHopFields.removing(["content-length", "content-encoding", "content-range"])
        let old = fields.removing(Set(["age", "date"] + new.keys.map { $0.lowercased() }))
        return CachedResponse(
            status: status, fields: old.merging(new) { $1 }, body: body, requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this response with ``varyFields``, or `nil` if it must not be stored (RFC 9111, section 3).
    ///
    /// - Parameters:
    ///   - request: The request as the cache got it.
    ///   - sent: The request as it was sent. The cache cannot compare fields that a later middleware has set.
    func storable(for request: PreparedRequest, sent: PreparedRequest) -> CachedResponse? {
        let (control, varying) = (CacheControl(value("Cache-Control")), fields.members(of: "Vary"))
        // `must-understand` overrides `no-store` if the cache knows the status (RFC 9111, section 5.2.2.3).
        let isForbidden = control.has("must-understand") ? HTTPStatus.reasons[status] == nil : control.has("no-store")
        guard !isForbidden, status != 206, status != 304, !varying.contains("*") else { return nil }
        // `private` allows a private cache to store a response. Servers also send it with errors, where it does not count.
        let isPrivate = control.has("private") && status < 400
        guard
            isPrivate || control.has("public") || control.has("max-age") || value("Expires") != nil
                || Freshness.heuristicStatuses.contains(status)
        else { return nil }
        var varyFields: [String: String] = [:]
        for name in varying {
            guard let value = request.varyValue(name), request.headers[name] == sent.headers[name] else { return nil }
            varyFields[name] = value
        }
        return CachedResponse(
            status: status, fields: fields, body: body, requestTime: requestTime, responseTime: responseTime, varyFields: varyFields)
    }

    /// Whether `request` has the same values for the fields that `Vary` names (RFC 9111, section 4.1).
    func matchesVary(of request: PreparedRequest) -> Bool { varyFields.allSatisfy { request.varyValue($0.key) == $0.value } }
}

extension PreparedRequest {
    /// The value of a field that `Vary` names, or `nil` if it is unknown: a session adds its cookies after the cache.
    fileprivate func varyValue(_ name: String) -> String? {
        let value = headers[name]
        guard value != nil || name != "cookie" || !handlesCookies else { return nil }
        return (value ?? "").normalized(as: name)
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
    fileprivate func members(of name: String) -> [String] {
        (value(name) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    fileprivate var withoutHopByHopFields: [String: String] { removing(hopByHop.union(members(of: "Connection"))) }

    func removing(_ lowercasedNames: Set<String>) -> [String: String] {
        filter { !lowercasedNames.contains($0.key.lowercased()) }
    }
}

extension String {
    /// The value of a field for comparison: without spaces around commas. Languages are compared in any order and case.
    fileprivate func normalized(as name: String) -> String {
        guard contains(",") || name == "accept-language" else { return trimmingCharacters(in: .whitespaces) }
        let members = split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return (name == "accept-language" ? members.map { $0.lowercased() }.sorted() : members).joined(separator: ",")
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
    /// Returns the last responses that together take at most `maxBytes`.
    func suffix(maxBytes: Int) -> [CachedResponse] {
        var room = maxBytes
        return reversed().prefix {
            room -= $0.size
            return room >= 0
        }.reversed()
    }
}
