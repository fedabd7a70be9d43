public import Foundation

extension Endpoint {
    /// Returns the request that is sent. Its path is appended to `baseURL`, unless it is a URL. Use it in tests, or to show a request:
    /// `try endpoint.preparedRequest(relativeTo: api).curlCommand()`.
    ///
    /// JSON bodies are encoded with sorted keys; a provider uses its own encoder.
    ///
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` if the request is invalid, and errors of ``adapting(_:)``.
    public func preparedRequest(relativeTo baseURL: URL? = nil) throws -> PreparedRequest {
        try preparedRequest(relativeTo: baseURL, encoder: .sortingKeys, mediaType: JSONDecoder().mediaType)
    }

    /// - Parameter mediaType: The media type that the provider's decoder reads.
    package func preparedRequest(relativeTo baseURL: URL?, encoder: JSONEncoder, mediaType: String?) throws -> PreparedRequest {
        var request = PreparedRequest(method, try url(relativeTo: baseURL), headers: headers)
        request.secrets.add(path.secrets, path: path.percentEncoded, redactedPath: path.redacted)
        (request.timeoutInterval, request.options, request.destination) = (timeoutInterval, options, configuration.destination)
        if configuration.usesProviderDecoder, let mediaType, headers["Accept"] == nil { request.headers["Accept"] = mediaType }
        if let content = try body?.encode(encoder) {
            request.body = content.body
            guard content.type.isFieldValue else { throw APIError.invalid("the content type of its body has a control character") }
            if headers["Content-Type"] == nil { request.headers["Content-Type"] = content.type }
        }
        var adapted = request
        try configuration.adapt(&adapted)
        adapted = adapted.withInternalProperties(of: request)
        try adapted.check()
        return adapted
    }

    /// Throws if the response cannot be written to its file, so that the request need not be sent.
    func checkDestination() throws {
        guard case .file(let file) = configuration.destination else { return }
        do {
            try PartialFile.check(file)
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
        // Building the URL as text takes less than half the time of `URLComponents`.
        let parts = URLText(base.absoluteString)
        var text = parts.scheme.map { "\($0.lowercased())://\(parts.authority)\(parts.path)" } ?? String(parts.path)
        if !path.percentEncoded.isEmpty {
            while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
            text += "/"
            text += Substring(path.percentEncoded.utf8.drop { $0 == UInt8(ascii: "/") })
        }
        let queries = [parts.query ?? "", query.percentEncoded[...]].filter { !$0.isEmpty }
        if parts.query != nil || !queries.isEmpty { text += "?" + queries.joined(separator: "&") }
        // It is not sent, but a redirect and the reader of the response need it. That of a base URL names no place in this resource.
        if let fragment = parts.fragment, path.url != nil, path.percentEncoded.isEmpty { text += "#\(fragment)" }
        guard let url = URL(string: text) else {
            throw APIError.invalid("no URL can be made of \"\(base.redacted)\" and its path \"\(path)\"")
        }
        return url
    }
}
