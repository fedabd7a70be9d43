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
        if let timeoutInterval {
            guard timeoutInterval > 0 else {
                throw APIError.invalid("its timeoutInterval is \(timeoutInterval) seconds; it must be more than 0")
            }
            request.timeoutInterval = timeoutInterval
        }

        guard method.rawValue.isToken else { throw APIError.invalid("its method \"\(method.rawValue)\" is no token") }
        request.httpMethod = method.rawValue

        for (name, value) in headers {
            try HTTPHeaders.check(name, value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        if isDecoded, headers["Accept"] == nil, let mediaType { request.setValue(mediaType, forHTTPHeaderField: "Accept") }

        if let body = try body?.encode(encoder) {
            try request.setBody(body.pieces)
            guard body.type.isFieldValue else { throw APIError.invalid("the content type of its body has a control character") }
            if headers["Content-Type"] == nil { request.setValue(body.type, forHTTPHeaderField: "Content-Type") }
        }
        try adapt(&request)
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
                    + "\"http://127.0.0.1:8080\", or write the path as .url(_:)")
        }
        guard var components = URLComponents(url: base, resolvingAgainstBaseURL: true), let scheme = components.scheme?.lowercased(),
            components.host?.isEmpty == false || !["http", "https"].contains(scheme)
        else {
            throw APIError.invalid("its URL \"\(base.redacted)\" needs a scheme and a host, as in \"https://api.example.com\"")
        }
        try base.checkScheme()
        components.scheme = scheme

        if !path.percentEncoded.isEmpty {
            var start = Substring(components.percentEncodedPath)
            while start.last == "/" { start.removeLast() }
            components.percentEncodedPath = start + "/" + path.percentEncoded.drop { $0 == "/" }
        }
        let query = [components.percentEncodedQuery ?? "", query.percentEncoded].filter { !$0.isEmpty }.joined(separator: "&")
        components.percentEncodedQuery = query.isEmpty ? nil : query
        components.fragment = nil

        guard let url = components.url else {
            throw APIError.invalid("no URL can be made of \"\(base.redacted)\" and its path \"\(path)\"")
        }
        return url
    }
}

extension URLRequest {
    /// Throws if the request has something that HTTP does not allow. An endpoint's `adapting` or a middleware may have set it.
    package func check() throws {
        try url?.checkScheme()
        if let port = url?.port, !URL.ports.contains(port) {
            throw APIError.invalid("its URL has the port \(port); the highest is \(URL.ports.upperBound)")
        }
        guard url?.user == nil, url?.password == nil else {
            // Linux would send them, and Apple's systems would not.
            throw APIError.invalid("its URL has a user name or a password; send them in the header Authorization")
        }
        for (name, value) in allHTTPHeaderFields ?? [:] { try HTTPHeaders.check(name, value) }
        // Some servers ignore such a body, and URL loading systems refuse it with a misleading error.
        guard let httpMethod, ["GET", "HEAD"].contains(httpMethod.uppercased()), httpBody != nil || httpBodyStream != nil else { return }
        throw APIError.invalid("\(httpMethod) has no body: send it with another method, or put the values into the query")
    }
}

extension HTTPHeaders {
    /// Throws if HTTP does not allow the field (RFC 9110, section 5.5).
    package static func check(_ name: String, _ value: String) throws {
        guard name.isToken else { throw APIError.invalid("its header name \"\(name)\" is no token (RFC 9110, section 5.6.2)") }
        guard value.isFieldValue else { throw APIError.invalid("its header \(name) has a control character in its value") }
    }
}

extension URL {
    /// A network stack may end the process for any other.
    static let ports = 0...65_535

    fileprivate func checkScheme() throws {
        guard let scheme = scheme?.lowercased(), !["http", "https"].contains(scheme) else { return }
        throw APIError.invalid("its URL \"\(redacted)\" has the scheme \(scheme); it must be http or https")
    }
}

extension APIError {
    fileprivate static func invalid(_ reason: String) -> APIError { .invalidRequest(reason: reason) }
}

extension String {
    /// RFC 9110, section 5.6.2.
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy { byte in ASCIISet.token.contains(byte) }
    }

    /// RFC 9110, section 5.5: no control character but a tab, so that none ends the field and begins another.
    var isFieldValue: Bool {
        utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
    }
}
