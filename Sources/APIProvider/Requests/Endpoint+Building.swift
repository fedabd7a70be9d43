public import Foundation

extension Endpoint {
    /// Builds the request without sending. For tests, or to show a request: `try endpoint.preparedRequest(relativeTo: api).curlCommand()`.
    ///
    /// JSON bodies are encoded with sorted keys, and not by a provider's encoder.
    ///
    /// - Parameter baseURL: The URL before the path and the query. May be `nil` for an absolute URL as the path.
    /// - Returns: The request for the first middleware.
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` for an invalid request, and the errors of ``adapting(_:)``.
    public func preparedRequest(relativeTo baseURL: URL? = nil) throws -> PreparedRequest {
        try preparedRequest(relativeTo: baseURL, encoder: .sortingKeys, mediaType: JSONDecoder().mediaType)
    }

    /// - Parameter mediaType: The media type of the provider's decoder.
    package func preparedRequest(relativeTo baseURL: URL?, encoder: JSONEncoder, mediaType: String?) throws -> PreparedRequest {
        try preparedRequest(relativeTo: baseURL.map { BaseURL($0) }, encoder, mediaType: mediaType, context: nil)
    }

    /// - Parameter context: The provider's notes about the request; `nil` without a provider.
    func preparedRequest(
        relativeTo baseURL: BaseURL?, _ encoder: JSONEncoder, mediaType: String?, context: RequestContext?
    ) throws -> PreparedRequest {
        if let problem = path.problem ?? query.problem { throw APIError.invalid(problem) }
        guard let base = path.url.map({ BaseURL($0) }) ?? baseURL else {
            throw APIError.invalid(
                "its path \"\(path)\" needs a base URL, but baseURL is nil: give DefaultAPIProvider(baseURL:) a URL with its scheme, as in "
                    + "\"http://127.0.0.1:8080\" (URL(string:) is nil for a text that is no URL), or write the path as .url(_:)")
        }
        var request = PreparedRequest(method, try base.appending(path, query), headers: headers)
        if !path.secrets.isEmpty { request.secrets.add(path.secrets, path: path.percentEncoded, redactedPath: path.redacted) }
        (request.timeoutInterval, request.options) = (timeoutInterval, options)
        (request.options.context, request.baseURL) = (context, baseURL?.url)
        let destination = try configuration.newDestination(for: request.url)
        if !destination.isMemory { request.bodyDestination = destination }
        let mediaType = configuration.decoder.map(\.mediaType) ?? mediaType
        if configuration.usesProviderDecoder, let mediaType, headers["Accept"] == nil { request.headers["Accept"] = mediaType }
        if let (body, type) = try body?.encode(encoder) {
            request.body = body
            guard type.isFieldValue else { throw APIError.invalid("the content type of its body has a control character") }
            if headers["Content-Type"] == nil { request.headers["Content-Type"] = type }
        }
        if let adapt = configuration.adapt {
            // Even a new request from the closure is the endpoint's.
            request = try request.changed(by: adapt)
            request.bodyDestination = destination
        }
        try request.check()
        return request
    }
}
