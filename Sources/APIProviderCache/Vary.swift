import APIProvider
import Foundation
import MiniRx

/// A request's sent header fields, for comparison with the fields in `Vary` (RFC 9111, section 4.1).
struct SentHeaders {
    /// The fields of the cache's request, with the transport's additions.
    let headers: HTTPHeaders
    /// Whether the transport's additions are known.
    let isComplete: Bool
    /// Whether the network stack may add other cookies.
    let mayGainCookies: Bool
    /// The number of sign-outs since the last user's responses were removed.
    let signOutsSinceRemoval: Int
    let languages: [String]

    /// The value of the lowercase field `name`; `nil` for an unknown value.
    ///
    /// An absent field has a value, too, beginning with a line feed, unlike every field value (RFC 9110, section 5.5).
    func value(_ name: String) -> String? {
        if let value = headers[name] { return value.normalized(as: name) }
        switch name {
        case "cookie" where mayGainCookies: return nil
        // A later middleware may add the field for the signed-in user, with any token.
        case "authorization": return "\n\(signOutsSinceRemoval)"
        // On Apple's systems, a session adds the device's languages.
        case "accept-language": return "\n" + languages.joined(separator: ",")
        default: return "\n"
        }
    }
}

// MARK: - A provider's headers

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

    /// Returns the look-up with the current headers and time. Call this method just before sending the request.
    func sentLookup(for lookup: Lookup) -> SentLookup {
        SentLookup(lookup: lookup, headers: sentHeaders(lookup.request), time: now())
    }
}

// MARK: - A response's variants

extension CachedResponse {
    /// Returns this response with ``varyValues``; `nil` if the response must not be stored (RFC 9111, section 3).
    ///
    /// - Parameters:
    ///   - request: The cache's request.
    ///   - sent: The sent request, without the network stack's additions.
    ///   - headersBefore: The headers at the time of sending.
    ///   - headersNow: The headers now. After a change, the sent ones are unknown: a cookie may have arrived meanwhile.
    func storable(
        for request: PreparedRequest, sent: PreparedRequest, headersBefore: SentHeaders, headersNow: @autoclosure () -> SentHeaders
    ) -> CachedResponse? {
        let (control, varying) = (CacheControl(headers["Cache-Control"]), headers.members(of: "Vary"))
        // `must-understand` overrides `no-store` for a status with known rules (RFC 9111, section 5.2.2.3).
        let isUnderstood = Freshness.heuristicStatusCodes.contains(statusCode)
        let isForbidden = control.contains("must-understand") ? !isUnderstood : control.contains("no-store")
        guard !isForbidden, statusCode != 206, statusCode != 304, !varying.contains("*") else { return nil }
        // `private` allows a private cache to store a response. On an error, the directive does not count, because servers send it with
        // every response.
        let isPrivate = control.contains("private") && statusCode < 400
        guard
            isPrivate || control.contains("public") || control.contains("max-age") || headers["Expires"] != nil
                || Freshness.heuristicStatusCodes.contains(statusCode)
        else { return nil }
        lazy var current = headersNow()
        var varyValues: [String: String] = [:]
        for name in varying {
            let (receivedValue, sentValue) = (request.headers[name], sent.headers[name])
            // A transport may add a credential in silence.
            if sentValue == nil, !headersBefore.isComplete, name == "authorization" { return nil }
            // A later middleware may have added the field. The cache then cannot compare the value, unless it is the user's credential.
            let isKnown =
                sentValue == receivedValue || sentValue == headersBefore.headers[name]
                || name == "authorization" && headersBefore.headers[name] == nil
            guard isKnown, let value = headersBefore.value(name), current.value(name)?.hasSameBytes(as: value) == true else { return nil }
            varyValues[name] = value
        }
        return CachedResponse(
            statusCode: statusCode, headers: headers, data: data, requestTime: requestTime, responseTime: responseTime,
            varyValues: varyValues)
    }

    /// Whether a request with `headers` has the same values for the fields in `Vary`.
    func matchesVary(of headers: SentHeaders) -> Bool {
        varyValues.allSatisfy { headers.value($0.key)?.hasSameBytes(as: $0.value) == true }
    }
}

extension String {
    /// A field's value for comparison, without spaces around commas. Languages match in any order and case.
    fileprivate func normalized(as name: String) -> String {
        // Commas in these fields do not separate values.
        let isList = contains(",") && name != "cookie" && name != "authorization"
        let space = CharacterSet(charactersIn: " \t")
        guard isList || name == "accept-language" else { return trimmingCharacters(in: space) }
        let members = split(separator: ",").map { $0.trimmingCharacters(in: space) }
        return (name == "accept-language" ? members.map { $0.lowercased() }.sorted() : members).joined(separator: ",")
    }
}
