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
        self.init(
            status: status, fields: fields, body: body, requested: requested, received: received, selectingFields: selectingFields,
            freshness: Freshness(status, fields, requested: requested, received: received))
    }

    init(
        status: Int, fields: [String: String], body: Data, requested: Date, received: Date, selectingFields: [String: String],
        freshness: Freshness
    ) {
        (self.status, self.fields, self.body, self.freshness) = (status, fields, body, freshness)
        (self.requested, self.received, self.selectingFields) = (requested, received, selectingFields)
    }

    /// The value of the field `name`, in any case.
    func value(_ name: String) -> String? { fields.value(name) }

    /// About how many bytes it takes.
    public var size: Int { body.count + fields.reduce(200) { $0 + $1.key.utf8.count + $1.value.utf8.count } }

    /// How old it is, in seconds.
    func age(at now: Date) -> TimeInterval { freshness.age + max(0, now.timeIntervalSince(received)) }

    /// How many seconds it stays fresh. Less than 0 if it is stale.
    func freshFor(at now: Date) -> TimeInterval { freshness.lifetime - age(at: now) }

    /// Whether it may be used when it is stale.
    var mayBeStale: Bool { !freshness.mustRevalidate && !freshness.mustAlwaysValidate }

    var hasValidator: Bool { value("ETag") != nil || value("Last-Modified") != nil }
}

// What is stored (RFC 9111, section 3).
extension CachedResponse {
    /// Creates what is kept of `response`; `nil` if nothing may be.
    ///
    /// - Parameter request: The request as the cache got it, with the values that it will have when it comes again.
    init?(_ response: APIResponse, to request: URLRequest, requested: Date, received: Date) {
        let (status, all) = (response.statusCode, response.response.headerFields)
        let control = CacheControl(all.value("Cache-Control"))
        let isForbidden = control.has("must-understand") ? HTTPStatus.reasons[status] == nil : control.has("no-store")
        guard !isForbidden, status != 206, status != 304, let varying = all.varyingFields else { return nil }
        guard
            Freshness.heuristicStatuses.contains(status) || control.has("max-age")
                || ["Expires", "ETag", "Last-Modified"].contains(where: { all.value($0) != nil })
        else { return nil }
        var selecting: [String: String] = [:]
        for name in varying {
            // A middleware behind the cache may have set it: then nobody knows its value when the request comes again.
            let (asked, sent) = (request.value(forHTTPHeaderField: name), response.request.value(forHTTPHeaderField: name))
            guard asked == sent else { return nil }
            selecting[name] = (asked ?? "").normalized(as: name)
        }
        self.init(
            status: status, fields: all.removing(hopByHop + all.members(of: "Connection")), body: response.data, requested: requested,
            received: received, selectingFields: selecting)
    }

    /// Whether `request` would get this one.
    func matches(_ request: URLRequest) -> Bool {
        selectingFields.allSatisfy { (request.value(forHTTPHeaderField: $0.key) ?? "").normalized(as: $0.key) == $0.value }
    }

    /// This response with the fields of a 304, or of a HEAD (RFC 9111, sections 3.2 and 4.3.4).
    func updated(by response: APIResponse, requested: Date, received: Date) -> CachedResponse {
        let new = response.response.headerFields.removing(hopByHop + ["content-length", "content-encoding", "content-range"])
        let old = fields.removing(["age"] + new.keys.map { $0.lowercased() })
        return CachedResponse(
            status: status, fields: old.merging(new) { $1 }, body: body, requested: requested, received: received,
            selectingFields: selectingFields)
    }
}

private let hopByHop = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te",
    "trailer",
    "transfer-encoding", "upgrade",
]

extension [String: String] {
    /// The value of the field `name`, in any case.
    func value(_ name: String) -> String? { self[name] ?? first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value }

    /// The members of a list, in lower case.
    fileprivate func members(of name: String) -> [String] {
        (value(name) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    /// The fields that Vary names; `nil` for `*`, which nothing matches (RFC 9110, section 12.5.5).
    fileprivate var varyingFields: [String]? {
        let names = members(of: "Vary")
        return names.contains("*") ? nil : names
    }

    fileprivate func removing(_ lowercasedNames: [String]) -> [String: String] { filter { !lowercasedNames.contains($0.key.lowercased()) } }
}

extension String {
    /// The value of a field as it is compared: without spaces around commas and, of a list of languages, in any order and case.
    fileprivate func normalized(as name: String) -> String {
        guard contains(",") || name == "accept-language" else { return trimmingCharacters(in: .whitespaces) }
        let members = split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return (name == "accept-language" ? members.map { $0.lowercased() }.sorted() : members).joined(separator: ",")
    }
}
