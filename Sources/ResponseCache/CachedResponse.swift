import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response that a ``CacheStore`` keeps.
public struct CachedResponse: Sendable, Hashable {
    /// The status code.
    public let status: Int
    /// The header fields, without those of the connection (RFC 9111, section 3.1).
    public let fields: [String: String]
    /// The body, decoded as its Content-Encoding says.
    public let body: Data
    /// When its request was sent. A validation counts as a request.
    public let requested: Date
    /// When it came.
    public let received: Date
    /// The values that the request had for the fields that `Vary` names, by their names in lower case. No value is an empty one.
    public let selectingFields: [String: String]
    /// What the fields say of how long it may be used.
    let freshness: Freshness

    /// Creates a response.
    public init(
        status: Int, fields: [String: String], body: Data, requested: Date, received: Date, selectingFields: [String: String] = [:]
    ) {
        (self.status, self.fields, self.body, self.selectingFields) = (status, fields, body, selectingFields)
        (self.requested, self.received) = (requested.inBounds, received.inBounds)
        freshness = Freshness(status, fields, requested: self.requested, received: self.received)
    }

    /// The value of the field `name`, in any case.
    func value(_ name: String) -> String? { fields.value(name) }

    /// About how many bytes it takes in memory.
    public var size: Int {
        [fields, selectingFields].joined().reduce(200 + body.count) { $0 + 64 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// How old it is, in seconds.
    func age(at now: Date) -> TimeInterval { freshness.age + max(0, now.timeIntervalSince(received)) }

    /// How many seconds it stays fresh. Less than 0 if it is stale, and where the clock was ahead when it came: nobody knows its age.
    func freshFor(at now: Date) -> TimeInterval { now < received ? -.infinity : freshness.lifetime - age(at: now) }

    /// Whether it may be used when it is stale.
    var mayBeStale: Bool { !freshness.mustRevalidate && !freshness.mustAlwaysValidate }

    var hasValidator: Bool { value("ETag") != nil || value("Last-Modified") != nil }
}

// What is stored (RFC 9111, section 3).
extension CachedResponse {
    init(_ response: APIResponse, requested: Date, received: Date) {
        self.init(
            status: response.statusCode, fields: response.response.headerFields.withoutConnection, body: response.data,
            requested: requested, received: received)
    }

    /// This response with the fields of a 304, or of a HEAD (RFC 9111, sections 3.2 and 4.3.4). ``stored(for:sent:)`` makes of it what is kept.
    func updated(by response: APIResponse, requested: Date, received: Date) -> CachedResponse {
        let new = response.response.headerFields.withoutConnection.removing(["content-length", "content-encoding", "content-range"])
        let old = fields.removing(Set(["age", "date"] + new.keys.map { $0.lowercased() }))
        return CachedResponse(
            status: status, fields: old.merging(new) { $1 }, body: body, requested: requested, received: received)
    }

    /// This response with the values that its `Vary` asks for; `nil` if it may not be stored.
    ///
    /// - Parameters:
    ///   - request: The request as the cache got it, with the values that it will have when it comes again.
    ///   - sent: The request as it was sent. What a middleware behind the cache has set, nobody knows when the request comes again.
    func stored(for request: PreparedRequest, sent: PreparedRequest) -> CachedResponse? {
        let (control, varying) = (CacheControl(value("Cache-Control")), fields.members(of: "Vary"))
        let isForbidden = control.has("must-understand") ? HTTPStatus.reasons[status] == nil : control.has("no-store")
        guard !isForbidden, status != 206, status != 304, !varying.contains("*") else { return nil }
        // Servers mark what they refuse as private, too.
        let isPrivate = control.has("private") && status < 400
        guard
            isPrivate || control.has("public") || control.has("max-age") || value("Expires") != nil
                || Freshness.heuristicStatuses.contains(status)
        else { return nil }
        var selecting: [String: String] = [:]
        for name in varying {
            guard let value = request.selecting(name), request.headers[name] == sent.headers[name]
            else { return nil }
            selecting[name] = value
        }
        return CachedResponse(
            status: status, fields: fields, body: body, requested: requested, received: received, selectingFields: selecting)
    }

    /// Whether `request` would get this one.
    func matches(_ request: PreparedRequest) -> Bool { selectingFields.allSatisfy { request.selecting($0.key) == $0.value } }
}

extension PreparedRequest {
    /// The value of a field that `Vary` names; `nil` if nobody knows it: the cookies of a session are added where the cache does not see them.
    fileprivate func selecting(_ name: String) -> String? {
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
    /// The value of the field `name`, in any case.
    func value(_ name: String) -> String? { self[name] ?? first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value }

    /// The members of a list, in lower case.
    fileprivate func members(of name: String) -> [String] {
        (value(name) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    /// What is left without the fields of the connection.
    fileprivate var withoutConnection: [String: String] { removing(hopByHop.union(members(of: "Connection"))) }

    fileprivate func removing(_ lowercasedNames: Set<String>) -> [String: String] {
        filter { !lowercasedNames.contains($0.key.lowercased()) }
    }
}

extension String {
    /// The value of a field as it is compared: without spaces around commas and, of a list of languages, in any order and case.
    fileprivate func normalized(as name: String) -> String {
        guard contains(",") || name == "accept-language" else { return trimmingCharacters(in: .whitespaces) }
        let members = split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return (name == "accept-language" ? members.map { $0.lowercased() }.sorted() : members).joined(separator: ",")
    }
}

extension Date {
    /// The date itself, or the nearest between 1970 and 5138. A file may have any, and arithmetic with those far away would trap.
    fileprivate var inBounds: Date {
        let bounds = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e11))
        return self > bounds.0 ? min(self, bounds.1) : bounds.0
    }
}

extension [CachedResponse] {
    /// The last ones that take at most so many bytes together.
    func last(within bytes: Int) -> [CachedResponse] {
        var room = bytes
        return reversed().prefix {
            room -= $0.size
            return room >= 0
        }.reversed()
    }
}
