import Dispatch
public import Foundation

/// A description of a request: where it goes, what it sends, and what comes back. An endpoint is itself an ``APIRequest``.
///
/// ```swift
/// Endpoint<SearchResponse>(.get, "/search/repositories", query: ["q": keyword])
/// Endpoint<Issue>(.post, "/repos/\(owner)/\(name)/issues", body: .json(issue))
/// Endpoint<Void>(.delete, "/user/starred/\(owner)/\(name)")
/// Endpoint<[User]>(.get, .url(nextPage))
/// Endpoint(.get, "/avatars/\(login).png", downloadingTo: file)
/// ```
///
/// Its properties are variables, and its modifiers return a changed copy. Write what all requests of an API share in one place:
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
    /// The path, which is appended to the provider's base URL, or a URL.
    public var path: RequestPath
    /// The parameters that are appended to the query of the base URL.
    public var query: QueryParameters
    /// The header fields. They replace those that come from ``body`` and `Response`, such as `Content-Type` and `Accept`.
    public var headers: HTTPHeaders
    /// The body. `URLSessionTransport` sends no body with `GET` and `HEAD`, so such a request with a body fails with
    /// ``APIError/invalidRequest(reason:underlying:)``.
    public var body: HTTPBody?
    /// The time in seconds without activity in either direction after which the request times out; `nil` is the session's setting.
    /// ``timeout(_:)`` limits the whole request.
    ///
    /// It begins when the request is sent, and each byte starts it anew.
    public var timeoutInterval: TimeInterval?
    /// The options that middlewares and transports read.
    public var options = RequestOptions()

    var configuration: EndpointConfiguration
    package var destination: BodyDestination { configuration.destination }
    let decode: @Sendable (APIResponse) throws -> Response

    // MARK: - Creating an endpoint

    /// Creates an endpoint that uses `decode` to make its value from the response. Its request has no `Accept` but that of `headers`.
    ///
    /// Each other argument sets the property of its name.
    ///
    /// - Parameter decode: Makes the value from a validated response, on a background queue. If it throws, the request fails with that
    ///   error. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, decode: @escaping @Sendable (APIResponse) throws -> Response
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { response in
            try APIResponse.explainingErrors(of: Response.self, in: response) { try decode(response) }
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

    /// Creates an endpoint that sends the same request as `other`, and makes its value with `decode`.
    init<Other>(_ other: Endpoint<Other>, decode: @escaping @Sendable (APIResponse) throws -> Response) {
        (method, path, query, headers, body) = (other.method, other.path, other.query, other.headers, other.body)
        (timeoutInterval, options, configuration, self.decode) = (other.timeoutInterval, other.options, other.configuration, decode)
    }

    /// The endpoint itself.
    public var endpoint: Endpoint { self }

    // MARK: - The value of a response

    /// Validates and decodes `response`. Use it in tests, or for responses that you load yourself.
    ///
    /// - Returns: The value that a request with this response succeeds with.
    /// - Throws: The errors of validating and decoding. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    public func value(of response: APIResponse) throws -> Response { try value(of: response, errorMessage: nil) }

    /// - Parameter errorMessage: The provider's way to a server's message, unless the endpoint has its own.
    func value(of response: APIResponse, errorMessage: (@Sendable (APIResponse) -> String?)?) throws -> Response {
        var response = response
        if let decoder = configuration.decoder { response = response.with(decoder: decoder) }
        do {
            if let validate = configuration.validate {
                try validate(response)
            } else if !response.httpResponse.isSuccessful {
                try checkStatus(of: response)
            } else if response.file == nil, response.httpResponse.isUnrequestedPart(range: response.request.headers["Range"]),
                Response.self != Void.self
            {
                throw APIError.unacceptableStatus(response)
            }
            return try decode(response)
        } catch {
            // The error keeps the response alive, but nobody will read its stream. Releasing its owner ends the transfer.
            _ = response.bodyStream?.withLock { $0.take() }
            let error = error.releasingFile()
            guard let errorMessage = options.errorMessage ?? errorMessage, let error = error as? APIError else { throw error }
            throw error.addingMessage(from: errorMessage)
        }
    }
}

/// The internal properties of an endpoint, which do not depend on the type of its response.
struct EndpointConfiguration: Sendable {
    /// Whether the provider's decoder decodes the response. Then `Accept` names the decoder's media type.
    let usesProviderDecoder: Bool
    /// The place for the body of a successful response.
    var destination = BodyDestination.memory
    /// Whether the bytes of a download stay if it fails.
    var isResuming = false
    /// The destination of one request to `url`.
    func newDestination(for url: URL) throws -> BodyDestination {
        if let file = destination.file { return .file(file, Download(resumableURL: isResuming ? url : nil)) }
        if isResuming { throw APIError.invalid("resuming() needs an endpoint that downloads to a file") }
        return destination
    }

    /// The decoder in place of the provider's.
    var decoder: (any BodyDecoder)?
    var adapt: (@Sendable (inout PreparedRequest) throws -> Void)?
    var validate: (@Sendable (APIResponse) throws -> Void)?
    var progressHandlers: [ProgressReporter.Handler] = []
    /// The longest time that the request may take in all.
    var timeout: DispatchTimeInterval?
    /// For pages and events: the number of sign-outs when the first of their requests was subscribed to.
    var signOutCount: Int?
}

extension Endpoint {
    /// Throws the error of a status outside of 200...299. With ``RedirectPolicy/never``, a redirect is accepted, unless the endpoint
    /// downloads or streams.
    private func checkStatus(of response: APIResponse) throws {
        if case .never = response.redirectPolicy(or: options).kind, case .memory = configuration.destination,
            300..<400 ~= response.statusCode, response.statusCode != 304
        {
            return
        }
        throw APIError.unacceptableStatus(response)
    }
}

// MARK: - Types of responses

extension Endpoint where Response: Decodable {
    /// Creates an endpoint whose type says how to read the response.
    ///
    /// `Data` and `String` are the body, an `Optional` is `nil` if the body is empty, and the provider's decoder decodes all other types.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: The path, which is appended to that of the provider's base URL, or a URL.
    ///   - query: The parameters, which are appended to the query of the base URL.
    ///   - headers: The header fields.
    ///   - body: The body, encoded once for each subscription.
    ///   - timeoutInterval: The time in seconds without activity in either direction after which the request times out; `nil` is the
    ///     session's setting. ``timeout(_:)`` limits the whole request.
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
    /// Creates an endpoint whose value is the body of the response, unchanged. Each argument sets the property of its name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        // This and the initializer for `Void` make `Endpoint(.get, "/x")` ambiguous, so that you must write the type. With one of them
        // alone, the compiler would infer the type without a warning.
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { $0.data }
    }
}

extension Endpoint where Response == Void {
    /// Creates an endpoint that ignores the body of the response. Each argument sets the property of its name.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { _ in }
    }
}

extension Endpoint where Response == URL {
    /// Creates an endpoint that writes the body of its response to a file, and succeeds with the URL of the file.
    ///
    /// The body is streamed to a hidden file in the folder of `destination`, and that file takes the destination's place when it is whole.
    /// Memory stays flat, except with your own ``Transport`` that returns the body. The response that ``validating(_:)`` gets has no
    /// `data`.
    ///
    /// ### If it does not succeed
    ///
    /// On failure and on dispose, the destination is untouched, and nothing is left behind. (A process that is killed leaves the hidden
    /// file, whose name ends in `.download`.) A status outside of 200...299 is an error that has the body. If `validating` accepts it, as
    /// you may do with 304, the request succeeds and the destination stays as it was.
    ///
    /// So is a status whose body is not the file: 202, 204, 205, 207, and a 206 that was not asked for, or has another range than the
    /// request.
    ///
    /// Each other argument sets the property of its name.
    ///
    /// - Parameter destination: The file. Its folder must exist. An old file is replaced and its mode kept, a link to a file is followed, and
    ///   anything else that stands there makes the request invalid.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, downloadingTo destination: URL
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) { response in
            guard response.httpResponse.isSuccessful else { return destination }
            // What has come in a file was checked. A middleware may have replaced the request.
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
