import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension PreparedRequest {
    /// Throws if HTTP does not allow a part of the request, set by `adapting` or a middleware. An unchanged request is not checked again.
    package mutating func check() throws {
        if isChecked { return }
        guard method.rawValue.isToken else {
            throw APIError.invalid("its method \"\(method.rawValue)\" is not a token (RFC 9110, section 9.1)")
        }
        try url.check()
        if let foundationRequest { try Self.check(foundationRequest) }
        if let timeoutInterval, !(timeoutInterval > 0) {
            throw APIError.invalid("its timeoutInterval is \(timeoutInterval) seconds; it must be more than 0")
        }
        if !infiniteQueryKeys.isEmpty {
            let items = (URIReference(url.absoluteString).query ?? "").parts(between: UInt8(ascii: "&"))
            let key = items.map { $0.parts(between: UInt8(ascii: "="))[0].formDecoded }.first {
                infiniteQueryKeys.contains(Array($0.utf8))
            }
            if let key { throw APIError.invalid("its value for \"\(key)\" is not a finite number") }
        }
        if let boundary = body?.boundary { try nameBoundary(boundary) }
        // URL loading systems may drop an invalid field without an error.
        for (name, value) in headers { try HTTPHeaders.check(name, value) }
        if body == nil {
            // A server would wait for the body.
            let name = ["Content-Length", "Transfer-Encoding"].first { headers[$0].map { $0[...].number != 0 } ?? false }
            if let name { throw APIError.invalid("its header \(name) announces a body, but the request has none") }
        }
        isChecked = true
    }

    /// Adds the body's `boundary` to a `Content-Type` without one. Throws if the `Content-Type` is another body's.
    private mutating func nameBoundary(_ boundary: String) throws {
        let type = headers["Content-Type"] ?? "multipart/form-data"
        var rest = type[...]
        let named = rest.takeParameters().first { $0.name == "boundary" }?.value
        let isMultipart = type.mediaType.hasPrefix("multipart/")
        guard isMultipart, named ?? boundary == boundary else {
            let problem = isMultipart ? "names another boundary than" : "is not the type of"
            throw APIError.invalid("its header Content-Type \(problem) its multipart body; leave the header out, because the body sets it")
        }
        if named == nil { headers["Content-Type"] = "\(type); boundary=\(boundary)" }
    }

    private static func check(_ foundationRequest: URLRequest) throws {
        guard foundationRequest.url != nil else { throw APIError.invalid("its urlRequest has no URL") }
        guard foundationRequest.httpBody == nil, foundationRequest.httpBodyStream == nil else {
            throw APIError.invalid("its body was set in urlRequest, where it is not sent; set the body of the PreparedRequest")
        }
    }

    /// Throws unless the URL is `http` or `https`. Another transport may know other schemes.
    package func checkScheme() throws {
        guard url.absoluteString.httpPrefixLength == nil, let scheme = url.scheme, !scheme.isHTTP else { return }
        throw APIError.invalid("its URL \"\(url.redacted)\" has the scheme \(scheme); it must be http or https")
    }

    /// Throws for a body that URLSession would not send.
    func checkBody() throws {
        guard body != nil, [.get, .head].contains(method) else { return }
        throw APIError.invalid(
            "\(method) has no body: send it with another method, or put the values into the query; if the server wants it, use a transport "
                + "that sends it, such as AsyncHTTPClientTransport")
    }
}

// MARK: - Headers

extension HTTPHeaders {
    /// Throws if HTTP does not allow the field (RFC 9110, section 5.5).
    @_spi(Transports) public static func check(_ name: String, _ value: String) throws {
        guard name.isToken else {
            // The name may be a whole field, including a credential.
            let parts = name.parts(between: UInt8(ascii: ":"))
            let shown = "\(parts[0])\(parts.count == 1 ? "" : ":…")"
            throw APIError.invalid("its header name \"\(shown)\" is not a token (RFC 9110, section 5.6.2)")
        }
        guard value.isFieldValue else { throw APIError.invalid("its header \(name) has a control character in its value") }
    }
}

// MARK: - URLs

extension String {
    /// Whether this is an HTTP URL without user and port, like most URLs.
    fileprivate var isHTTPWithoutUserAndPort: Bool {
        guard let start = httpPrefixLength else { return false }
        // The first of these bytes after the scheme decides.
        let marks = ASCIISet.hostDelimiters
        return withBytes { bytes in
            let end = bytes.dropFirst(start).first { marks.contains($0) }
            return end != UInt8(ascii: "@") && end != UInt8(ascii: ":")
        }
    }

    /// The length of `https://` or `http://` at the start, in bytes; `nil` for another start, such as `HTTP://`.
    var httpPrefixLength: Int? {
        hasPrefix("https://") ? 8 : hasPrefix("http://") ? 7 : nil
    }

    /// Whether this scheme is `http` or `https`.
    package var isHTTP: Bool {
        switch lowercased() {
        case "http", "https": true
        default: false
        }
    }
}

extension URL {
    /// The port, if above 65535. With such a port, some network stacks crash. Above `Int.max`, some use the scheme's default port.
    var impossiblePort: String? {
        if let port { return 0...65_535 ~= port ? nil : "\(port)" }
        // `port` is `nil` if the number does not fit into an `Int`.
        let text = absoluteString.utf8
        let authority = text.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let port = authority[colon...].dropFirst()
        return !port.isEmpty && port.allSatisfy(\.isDigit) ? String(Substring(port)) : nil
    }

    /// Throws if no request can be sent to this URL.
    func check() throws {
        if let dotSegment { throw APIError.invalid("its path has the segment \"\(dotSegment)\"; write the path that is meant") }
        if absoluteString.isHTTPWithoutUserAndPort { return }
        if let impossiblePort { throw APIError.invalid("its URL has the port \(impossiblePort); the highest is 65535") }
        guard user == nil, password == nil else {
            // Linux would send them, unlike Apple's systems.
            throw APIError.invalid("its URL has a user name or a password; send them in the header Authorization")
        }
    }
}
