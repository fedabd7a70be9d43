public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Endpoint {
    /// Returns the request that is sent. Its path is appended to `baseURL`, unless it is a URL. Use it in tests, or to send the request
    /// yourself.
    ///
    /// JSON bodies are encoded with sorted keys; a provider uses its own encoder. A body with files is in memory here, a single file mapped.
    ///
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` if the request is invalid, and errors of ``adapting(_:)``.
    public func urlRequest(relativeTo baseURL: URL? = nil) throws -> URLRequest {
        try urlRequest(relativeTo: baseURL, encoder: .sortingKeys, mediaType: JSONDecoder().mediaType).withBodyInMemory()
    }

    /// - Parameter mediaType: The media type that the provider's decoder reads.
    package func urlRequest(relativeTo baseURL: URL?, encoder: JSONEncoder, mediaType: String?) throws -> URLRequest {
        var request = URLRequest(url: try url(relativeTo: baseURL))
        request.addSecrets(path.secrets, path: path.percentEncoded, shown: path.shown)
        if let timeoutInterval {
            guard timeoutInterval > 0 else {
                throw APIError.invalid("its timeoutInterval is \(timeoutInterval) seconds; it must be more than 0")
            }
            // A request that sets no timeout has 60 s too, and the session's setting counts for it.
            request.timeoutInterval = timeoutInterval == 60 ? timeoutInterval.nextUp : timeoutInterval
        }

        if body != nil, options.allowsBody { request.add(.mayHaveBody) }
        guard method.rawValue.isToken else {
            throw APIError.invalid("its method \"\(Redactor().message(method.rawValue))\" is not a token (RFC 9110, section 9.1)")
        }
        // On Linux, setting the method costs as much as parsing the URL, and setting a header twice that.
        if method != .get { request.httpMethod = method.rawValue }

        if let problem = headers.problem { throw APIError.invalid(problem) }
        var fields = headers
        if isDecoded, let mediaType, fields["Accept"] == nil { fields["Accept"] = mediaType }
        if let body = try body?.encode(encoder) {
            try request.setBody(body.pieces)
            guard body.type.isFieldValue else { throw APIError.invalid("the content type of its body has a control character") }
            if fields["Content-Type"] == nil { fields["Content-Type"] = body.type }
        }
        // URL loading systems may drop a field that is not valid, without an error.
        for (name, value) in fields { try HTTPHeaders.check(name, value) }
        request.allHTTPHeaderFields = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
        let built = request
        try adapt(&request)
        request.keepMarks(of: built)
        try request.check()
        return request
    }

    /// Throws if the response cannot be written to its file, so that the request need not be sent.
    func checkDestination() throws {
        guard let destination else { return }
        do {
            try PartialFile.check(destination)
        } catch {
            throw APIError.invalidRequest(reason: "its response cannot be saved", underlying: error)
        }
    }

    private func url(relativeTo baseURL: URL?) throws -> URL {
        if let problem = path.problem { throw APIError.invalid(problem) }
        guard let base = path.url ?? baseURL else {
            throw APIError.invalid(
                "its path \"\(path)\" needs a base URL, but baseURL is nil: give DefaultAPIProvider(baseURL:) a URL with its scheme, as in "
                    + "\"http://127.0.0.1:8080\" (URL(string:) is nil for a text that is no URL), or write the path as .url(_:)")
        }
        guard let scheme = base.scheme, base.host?.isEmpty == false || !scheme.isHTTP else {
            throw APIError.invalid("its URL \"\(base.redacted)\" needs a scheme and a host, as in \"https://api.example.com\"")
        }
        // As text, for less than half of what URLComponents take.
        var text = base.absoluteString
        if scheme != scheme.lowercased() { text = scheme.lowercased() + text.dropFirst(scheme.count) }
        if let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) { text.removeSubrange(fragment...) }
        var query = query.percentEncoded
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let own = text[mark...].dropFirst()
            query = (own.isEmpty || query.isEmpty ? "?" + own : "?" + own + "&") + query
            text.removeSubrange(mark...)
        } else if !query.isEmpty {
            query = "?" + query
        }
        if !path.percentEncoded.isEmpty {
            while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
            text += "/"
            text += Substring(path.percentEncoded.utf8.drop { $0 == UInt8(ascii: "/") })
        }
        text += query
        guard let url = URL(string: text) else {
            throw APIError.invalid("no URL can be made of \"\(base.redacted)\" and its path \"\(path)\"")
        }
        return url
    }
}

extension URLRequest {
    /// Sets those of `headers` that the request does not have.
    mutating func addMissing(_ headers: HTTPHeaders) throws {
        if let problem = headers.problem { throw APIError.invalid(problem) }
        for (name, value) in headers where self.value(forHTTPHeaderField: name) == nil {
            try HTTPHeaders.check(name, value)
            setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Throws if the request has something that HTTP does not allow. An endpoint's `adapting` or a middleware may have set it.
    package func check() throws {
        try url?.check()
        for (name, value) in allHTTPHeaderFields ?? [:] { try HTTPHeaders.check(name, value) }
        try checkBody()
    }

    private func checkBody() throws {
        guard httpBody != nil || httpBodyStream != nil else {
            // A server would wait for the body.
            let name = ["Content-Length", "Transfer-Encoding"].first { value(forHTTPHeaderField: $0).map { Int($0) != 0 } ?? false }
            if let name { throw APIError.invalid("its header \(name) announces a body, but the request has none") }
            return
        }
        if let httpBodyStream, !(httpBodyStream is BodyStream) {
            throw APIError.invalid(
                "its body is an InputStream, which can be read only once; send it with HTTPBody.file or .multipart, or set httpBody")
        }
        // Some servers ignore such a body, and URL loading systems refuse it with a misleading error.
        guard let httpMethod, ["GET", "HEAD"].contains(httpMethod.uppercased()), !has(.mayHaveBody) else { return }
        throw APIError.invalid(
            "\(httpMethod) has no body: send it with another method, or put the values into the query; if the server wants it, add "
                + ".option(\\.allowsBody, true)")
    }
}

extension HTTPHeaders {
    /// Throws if HTTP does not allow the field (RFC 9110, section 5.5).
    package static func check(_ name: String, _ value: String) throws {
        guard name.isToken else {
            // The name may be a whole field, with a credential in it.
            throw APIError.invalid("its header name \"\(Redactor().message(name))\" is not a token (RFC 9110, section 5.6.2)")
        }
        guard value.isFieldValue else { throw APIError.invalid("its header \(name) has a control character in its value") }
    }
}

extension String {
    fileprivate var isHTTP: Bool {
        switch lowercased() {
        case "http", "https": true
        default: false
        }
    }
}

extension URL {
    /// The text of a port above 65535. A network stack may end the process for it, or take the scheme's port if it is above `Int.max`.
    var impossiblePort: String? {
        if let port { return 0...65_535 ~= port ? nil : "\(port)" }
        // Foundation has no port here if no `Int` takes it.
        let text = absoluteString.utf8
        let authority = text.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let port = authority[colon...].dropFirst()
        return !port.isEmpty && port.allSatisfy(\.isDigit) ? String(Substring(port)) : nil
    }

    fileprivate func check() throws {
        if let scheme, !scheme.isHTTP {
            throw APIError.invalid("its URL \"\(redacted)\" has the scheme \(scheme); it must be http or https")
        }
        if let impossiblePort { throw APIError.invalid("its URL has the port \(impossiblePort); the highest is 65535") }
        guard user == nil, password == nil else {
            // Linux would send them, and Apple's systems would not.
            throw APIError.invalid("its URL has a user name or a password; send them in the header Authorization")
        }
    }
}
