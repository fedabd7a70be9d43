import Dispatch
public import Foundation

/// A description of a request: the destination, the content, and the response. An endpoint is itself an ``APIRequest``.
///
/// ```swift
/// Endpoint<SearchResponse>(.get, "/search/repositories", query: ["q": keyword])
/// Endpoint<Issue>(.post, "/repos/\(owner)/\(name)/issues", body: .json(issue))
/// Endpoint<Void>(.delete, "/user/starred/\(owner)/\(name)")
/// Endpoint<[User]>(.get, .url(nextPage))
/// Endpoint(.get, "/avatars/\(login).png", downloadingTo: file)
/// ```
///
/// The properties are variables, and modifiers return a changed copy. Write what all of an API's requests share in one place:
///
/// ```swift
/// extension Endpoint {
///     var gitHub: Endpoint {
///         var endpoint = self
///         endpoint.headers["X-GitHub-Api-Version"] = "2022-11-28"
///         return endpoint
///     }
/// }
/// ```
public struct Endpoint<Response: Sendable>: APIRequest {
    /// The request method.
    public var method: HTTPMethod
    /// The path, appended to the provider's base URL, or an absolute URL.
    public var path: RequestPath
    /// The parameters, appended to the base URL's query.
    public var query: QueryParameters
    /// The header fields. They replace those from ``body`` and `Response`, such as `Content-Type` and `Accept`.
    public var headers: HTTPHeaders
    /// The body. `URLSessionTransport` sends no body with `GET` and `HEAD`: such a request with a body fails with
    /// ``APIError/invalidRequest(reason:underlying:)``.
    public var body: HTTPBody?
    /// The longest silence in either direction, in seconds, before the request times out; `nil` is the session's setting. ``timeout(_:)``
    /// limits the whole request.
    ///
    /// The time begins with the sending, and again with each byte.
    public var timeoutInterval: TimeInterval?
    /// The options for middlewares and transports.
    public var options = RequestOptions()

    var configuration: EndpointConfiguration
    package var destination: BodyDestination { configuration.destination }
    let decode: @Sendable (APIResponse) throws -> Response

    // MARK: - Creating an endpoint

    /// Creates an endpoint with a value made from the response by `decode`. The request has no `Accept` but the one in `headers`.
    ///
    /// The closure gets a validated response, on a background queue. If the closure throws, the request fails with that error. A
    /// `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``. Each other argument sets the property with the same name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, decode: @escaping @Sendable (APIResponse) throws -> Response
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { response in
            try APIResponse.wrappingErrors(of: Response.self, in: response) { try decode(response) }
        }
    }

    init(
        _ method: HTTPMethod, _ path: RequestPath, _ query: QueryParameters, _ headers: HTTPHeaders, _ body: HTTPBody?,
        _ timeoutInterval: TimeInterval?, usesProviderDecoder: Bool, _ decode: @escaping @Sendable (APIResponse) throws -> Response
    ) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
        (self.timeoutInterval, configuration, self.decode) = (
            timeoutInterval, EndpointConfiguration(usesProviderDecoder: usesProviderDecoder), decode
        )
    }

    /// Creates an endpoint with the request of `other`, and a value made by `decode`.
    init<Other>(_ other: Endpoint<Other>, decode: @escaping @Sendable (APIResponse) throws -> Response) {
        (method, path, query, headers, body) = (other.method, other.path, other.query, other.headers, other.body)
        (timeoutInterval, options, configuration, self.decode) = (other.timeoutInterval, other.options, other.configuration, decode)
    }

    /// The endpoint itself.
    public var endpoint: Endpoint { self }

    // MARK: - The value of a response

    /// Validates and decodes `response`. For tests, or for responses that you load yourself.
    ///
    /// - Returns: The value of a request with this response.
    /// - Throws: Errors from validating and decoding. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    public func value(of response: APIResponse) throws -> Response { try value(of: response, errorMessage: nil) }

    /// - Parameters:
    ///   - errorMessage: Finds the server's message, unless the endpoint has another such closure.
    ///   - download: The request's download, which learns whether the response was accepted.
    func value(
        of response: APIResponse, errorMessage: (@Sendable (APIResponse) -> String?)?, _ download: DownloadHandoff? = nil
    ) throws -> Response {
        var response = response
        if let decoder = configuration.decoder { response = response.with(decoder: decoder) }
        do {
            if let validate = configuration.validate {
                do { try validate(response) } catch {
                    download?.judge(isAccepted: false)
                    throw error
                }
            } else if !response.httpResponse.isSuccessful {
                try checkStatus(of: response)
            } else if response.file == nil, response.statusCode == 206, response.request.headers["Range"] == nil,
                Response.self != Void.self
            {
                throw APIError.unacceptableStatus(response)
            }
            let value = try decode(response)
            // Another status came without the file.
            if response.httpResponse.isSuccessful { download?.judge(isAccepted: true) }
            return value
        } catch {
            // The error keeps the response alive, but nobody will read the stream. Releasing the stream's owner ends the transfer.
            _ = response.bodyStream?.withLock { $0.take() }
            let error = error.releasingFile()
            guard let errorMessage = options.errorMessage ?? errorMessage, let error = error as? APIError else { throw error }
            throw error.addingMessage(from: errorMessage)
        }
    }
}

/// An endpoint's internal properties, independent of the response type.
struct EndpointConfiguration: Sendable {
    /// Whether the provider's decoder decodes the response. Then `Accept` names the decoder's media type.
    let usesProviderDecoder: Bool
    /// The place for a successful response's body.
    var destination = BodyDestination.memory
    /// Whether a failed download's bytes stay.
    var isResuming = false
    /// The destination of one request to `url`.
    func newDestination(for url: URL) throws -> BodyDestination {
        if let file = destination.file { return .file(file, DownloadHandoff(resuming: isResuming ? url : nil, to: file)) }
        if isResuming { throw APIError.invalid("resuming() needs an endpoint that downloads to a file") }
        return destination
    }

    /// The decoder in place of the provider's.
    var decoder: (any BodyDecoder)?
    var adapt: (@Sendable (inout PreparedRequest) throws -> Void)?
    var validate: (@Sendable (APIResponse) throws -> Void)?
    var progressHandlers: [ProgressReporter.Handler] = []
    /// The longest time for the whole request.
    var timeout: DispatchTimeInterval?
    /// For pages and events: the number of sign-outs at the first request's subscription.
    var signOutCount: Int?
}

extension Endpoint {
    /// Throws for a status outside 200...299. With ``RedirectPolicy/never``, a redirect is accepted, unless the endpoint downloads or
    /// streams.
    private func checkStatus(of response: APIResponse) throws {
        if response.redirectPolicy(or: options).hasSameKind(as: .never), case .memory = configuration.destination,
            300..<400 ~= response.statusCode, response.statusCode != 304
        {
            return
        }
        throw APIError.unacceptableStatus(response)
    }
}

// MARK: - Response types

extension Endpoint where Response: Decodable {
    /// Creates an endpoint that reads the response by its type.
    ///
    /// `Data` and `String` are the body, an `Optional` is `nil` for an empty body, and the provider's decoder decodes all other types.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: The path, appended to the provider's base URL, or an absolute URL.
    ///   - query: The parameters, appended to the base URL's query.
    ///   - headers: The header fields.
    ///   - body: The body, encoded once for each subscription.
    ///   - timeoutInterval: The longest silence in either direction, in seconds, before the request times out; `nil` is the session's
    ///     setting. ``timeout(_:)`` limits the whole request.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        self.init(
            method, path, query, headers, body, timeoutInterval, usesProviderDecoder: APIResponse.usesProviderDecoder(for: Response.self)
        ) {
            try $0.decode(Response.self)
        }
    }
}

extension Endpoint where Response == Data {
    /// Creates an endpoint with the response's unchanged body as the value. Each argument sets the property with the same name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        // This and the initializer for `Void` make `Endpoint(.get, "/x")` ambiguous, so that you must write the type. With only one, the
        // compiler would infer the type without a warning.
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { $0.data }
    }
}

extension Endpoint where Response == Void {
    /// Creates an endpoint that ignores the response's body. Each argument sets the property with the same name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { _ in }
    }
}

extension Endpoint where Response == URL {
    /// Creates an endpoint that writes the response's body to a file, and succeeds with the file's URL.
    ///
    /// The body is streamed to a hidden file in the folder of `destination`. When complete, that file takes the destination's place. Memory
    /// stays flat, except with your own ``Transport`` that returns the body. With `URLSession` on Linux, some 100 to 160 MB of a large file
    /// may wait in Foundation. In ``validating(_:)``, the response has no `data`.
    ///
    /// ### Failures
    ///
    /// On failure and on dispose, the destination is untouched, and nothing is left behind. (A killed process leaves the hidden file, with
    /// a name ending in `.download`.) A status outside 200...299 is an error with the body. If `validating` accepts such a status, for
    /// example 304, the request succeeds and the destination stays unchanged.
    ///
    /// A status without the file as the body is an error, too: 202, 204, 205, 207, and an unrequested part, or one with another range than
    /// the request. A 200 with a `Content-Range` in bytes is a part, unless that is the whole.
    ///
    /// If a middleware makes a successful response anew, without the file and without a body of its own, the request fails.
    ///
    /// The `destination` is a file in an existing folder. An old file is replaced, keeping the mode, and a link to a file is followed.
    /// Anything else there makes the request invalid. Each other argument sets the property with the same name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, downloadingTo destination: URL
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { response in
            guard response.httpResponse.isSuccessful else { return destination }
            // A body in a file was already checked. A middleware may have replaced the request.
            guard response.file != nil || response.httpResponse.isContent(range: response.request.headers["Range"]) else {
                throw APIError.unacceptableStatus(response)
            }
            try response.save(to: destination)
            return destination
        }
        configuration.destination = .file(destination)
    }
}

extension Endpoint: CustomStringConvertible {
    /// The method and the path: `GET /search/repositories`. Other values may be secrets, and are left out.
    public var description: String { "\(method) \(path)" }
}
