import APIProvider
import Foundation
import MiniRx

/// The header fields of a request as they are sent, for comparison with the fields that `Vary` names (RFC 9111, section 4.1).
struct SentHeaders {
    /// The fields that the cache got, and those that the transport adds.
    let headers: HTTPHeaders
    /// Whether it is known what the transport adds.
    let isComplete: Bool
    /// Whether the network stack may add cookies that `headers` does not have.
    let mayGainCookies: Bool
    /// The number of sign-outs since the responses of the last user were removed.
    let signOutsSinceRemoval: Int
    let languages: [String]

    /// The value of the field `name`, which is in lower case; `nil` if it is unknown.
    ///
    /// An absent field has a value, too. It begins with a line feed, so it differs from every value of a field (RFC 9110, section 5.5).
    func value(_ name: String) -> String? {
        if let value = headers[name] { return value.normalized(as: name) }
        switch name {
        case "cookie" where mayGainCookies: return nil
        // A later middleware may add it. It belongs to the user who is signed in, whatever the token is.
        case "authorization": return "\n\(signOutsSinceRemoval)"
        // On Apple's systems, a session adds the languages of the device.
        case "accept-language": return "\n" + languages.joined(separator: ",")
        default: return "\n"
        }
    }
}

// MARK: - The headers that a provider sends

extension CacheMiddleware {
    func sentHeaders(_ request: PreparedRequest) -> SentHeaders {
        // A stored response is whole. For a range, the transport would add `Accept-Encoding: identity`.
        var whole = request
        if request.headers["Range"] != nil { whole.headers["Range"] = nil }
        let added = whole.addedHeaders
        let headers = (added ?? [:]).reduce(into: whole.headers) { $0[$1.name] = $1.value }
        return SentHeaders(
            headers: headers, isComplete: added != nil, mayGainCookies: added == nil && request.handlesCookies,
            signOutsSinceRemoval: currentSignOutCount() - state.withLock(\.signOutCountAtRemoval),
            languages: headers["Accept-Language"] == nil ? languages() : [])
    }

    /// Returns the look-up with the headers and the time of now. Call it just before the request is sent.
    func sentLookup(for lookup: Lookup) -> SentLookup {
        SentLookup(lookup: lookup, headers: sentHeaders(lookup.request), time: now())
    }
}

// MARK: - The variants of a response

extension CachedResponse {
    /// Returns this response with ``varyValues``, or `nil` if it must not be stored (RFC 9111, section 3).
    ///
    /// - Parameters:
    ///   - request: The request as the cache got it.
    ///   - sent: The request as it was sent, without what the network stack has added.
    ///   - headersBefore: Its headers when it was sent.
    ///   - headersNow: Its headers now. If they have changed, it is unknown which were sent: a cookie may have come in the meantime.
    func storable(
        for request: PreparedRequest, sent: PreparedRequest, headersBefore: SentHeaders, headersNow: @autoclosure () -> SentHeaders
    ) -> CachedResponse? {
        let (control, varying) = (CacheControl(headers["Cache-Control"]), headers.members(of: "Vary"))
        // `must-understand` overrides `no-store` if the cache knows how responses with the status are stored (RFC 9111, section 5.2.2.3).
        let isUnderstood = Freshness.heuristicStatusCodes.contains(statusCode)
        let isForbidden = control.has("must-understand") ? !isUnderstood : control.has("no-store")
        guard !isForbidden, statusCode != 206, statusCode != 304, !varying.contains("*") else { return nil }
        // `private` allows a private cache to store a response. That of an error does not count, because servers send it with every
        // response.
        let isPrivate = control.has("private") && statusCode < 400
        guard
            isPrivate || control.has("public") || control.has("max-age") || headers["Expires"] != nil
                || Freshness.heuristicStatusCodes.contains(statusCode)
        else { return nil }
        lazy var current = headersNow()
        var varyValues: [String: String] = [:]
        for name in varying {
            let (receivedValue, sentValue) = (request.headers[name], sent.headers[name])
            // A transport may add a credential in silence.
            if sentValue == nil, !headersBefore.isComplete, name == "authorization" { return nil }
            // The cache cannot compare a field that a later middleware has set, except the credential of the user.
            let isKnown =
                sentValue == receivedValue || sentValue == headersBefore.headers[name]
                || name == "authorization" && headersBefore.headers[name] == nil
            guard isKnown, let value = headersBefore.value(name), value == current.value(name) else { return nil }
            varyValues[name] = value
        }
        return CachedResponse(
            statusCode: statusCode, headers: headers, data: data, requestTime: requestTime, responseTime: responseTime,
            varyValues: varyValues)
    }

    /// Whether a request that is sent with `headers` has the same values for the fields that `Vary` names.
    func matchesVary(of headers: SentHeaders) -> Bool { varyValues.allSatisfy { headers.value($0.key) == $0.value } }
}

extension String {
    /// The value of a field for comparison: without spaces around commas. Languages are compared in any order and case.
    fileprivate func normalized(as name: String) -> String {
        // These are no lists, and a comma in them is part of a value.
        let isList = contains(",") && name != "cookie" && name != "authorization"
        guard isList || name == "accept-language" else { return trimmingCharacters(in: .whitespacesAndNewlines) }
        let members = split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        return (name == "accept-language" ? members.map { $0.lowercased() }.sorted() : members).joined(separator: ",")
    }
}
