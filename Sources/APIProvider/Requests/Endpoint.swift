public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Where a request goes, what it sends, and what comes back. An endpoint is itself an ``APIRequest``.
///
/// ```swift
/// Endpoint<SearchResponse>(.get, "/search/repositories", query: ["q": keyword])
/// Endpoint<Issue>(.post, "/repos/\(owner)/\(name)/issues", body: .json(issue))
/// Endpoint<Void>(.delete, "/user/starred/\(owner)/\(name)")
/// Endpoint<[User]>(.get, .url(nextPage))
/// Endpoint(.get, "/avatars/\(login).png", downloadingTo: file)
/// ```
///
/// Its properties are variables, and its modifiers return a changed copy. What all requests of an API have in common stands in one place:
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
    /// The path, which is appended to the provider's base URL, or a whole URL.
    public var path: RequestPath
    /// The parameters that are appended to the query of the base URL.
    public var query: QueryParameters
    /// The header fields. They take precedence over those that follow from ``body`` and `Response`.
    public var headers: HTTPHeaders
    /// The body. `GET` and `HEAD` have none.
    public var body: HTTPBody?
    /// How long to wait for data, in seconds, from when the request is sent; each byte starts the time anew. `nil` is the session's setting.
    public var timeoutInterval: TimeInterval?
    /// What middlewares read of this request.
    public var options = RequestOptions()

    /// The file that the response is written to.
    package private(set) var destination: URL?
    /// Whether the response is read by the provider's decoder, so that `Accept` names the decoder's media type.
    let isDecoded: Bool
    private(set) var adapt: @Sendable (inout URLRequest) throws -> Void = { _ in }
    private(set) var report: (@Sendable (TransferProgress) -> Void)?
    private var validate: @Sendable (APIResponse) throws -> Void = { try $0.checkStatus() }
    private let decode: @Sendable (APIResponse) throws -> Response

    /// Creates an endpoint whose response `decode` makes into a value.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: What is appended to the path of the provider's base URL, or a whole URL.
    ///   - query: What is appended to the query of the base URL.
    ///   - headers: The header fields.
    ///   - body: The body, encoded once for each subscription.
    ///   - timeoutInterval: How long to wait for data, in seconds; `nil` is the session's setting.
    ///   - decode: Makes the value of a response that was validated, on a background queue. What it throws fails the request; a
    ///     `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, decode: @escaping @Sendable (APIResponse) throws -> Response
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, isDecoded: false, decode)
    }

    private init(
        _ method: HTTPMethod, _ path: RequestPath, _ query: QueryParameters, _ headers: HTTPHeaders, _ body: HTTPBody?,
        _ timeoutInterval: TimeInterval?, isDecoded: Bool, _ decode: @escaping @Sendable (APIResponse) throws -> Response
    ) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
        (self.timeoutInterval, self.isDecoded, self.decode) = (timeoutInterval, isDecoded, decode)
    }

    /// The endpoint itself.
    public var endpoint: Endpoint { self }

    /// Returns the value of `response`, which is validated first. Use it in tests, and for responses that come in other ways.
    ///
    /// - Throws: What validating and decoding throw. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    public func value(of response: APIResponse) throws -> Response {
        try validate(response)
        return try response.explainingDecodingErrors(of: Response.self) { try decode(response) }
    }
}

extension Endpoint where Response: Decodable {
    /// Creates an endpoint whose response is read by its type: `Data` and `String` as they come, ``Empty`` whatever comes, an `Optional` as
    /// `nil` if the body is empty, and all others by the provider's decoder.
    ///
    /// The parameters are those of ``init(_:_:query:headers:body:timeoutInterval:decode:)``.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, isDecoded: APIResponse.isDecoded(Response.self)) {
            try $0.decode(Response.self)
        }
    }
}

extension Endpoint where Response == Data {
    /// Creates an endpoint whose response is its body as it comes.
    ///
    /// The parameters are those of ``init(_:_:query:headers:body:timeoutInterval:decode:)``.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        // Beside the initialiser for Void, it makes an Endpoint without a type ambiguous. Otherwise that would be one of Void, in silence.
        self.init(method, path, query, headers, body, timeoutInterval, isDecoded: false) { $0.data }
    }
}

extension Endpoint where Response == Void {
    /// Creates an endpoint that takes whatever comes.
    ///
    /// The parameters are those of ``init(_:_:query:headers:body:timeoutInterval:decode:)``.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, isDecoded: false) { _ in }
    }
}

extension Endpoint where Response == URL {
    /// Creates an endpoint that writes the body of its response to `destination`, and succeeds with `destination`.
    ///
    /// The body is streamed to a hidden file in the folder of `destination`, and that file takes the destination's place when it is whole.
    /// Memory stays flat, except with a ``Transport`` of your own that has no `download`. What `validating` gets has no data.
    ///
    /// On failure, on a status outside of 200...299 and on dispose the destination is untouched, and nothing is left behind. (A process that is
    /// killed leaves the hidden file, whose name ends in `.download`.) The body of a refused status is in the error. Two cases differ. If
    /// `validating` accepts such a status, such as 304, the request succeeds and the destination stays as it was. If `validating` or a middleware
    /// refuses a response with a status in 200...299, it has been written.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: What is appended to the path of the provider's base URL, or a whole URL.
    ///   - query: What is appended to the query of the base URL.
    ///   - headers: The header fields.
    ///   - body: The body, encoded once for each subscription.
    ///   - timeoutInterval: How long to wait for data, in seconds; `nil` is the session's setting.
    ///   - destination: The file to write. Its folder must exist. An old file is replaced and its mode kept, a link to a file is followed, and
    ///     anything else that stands there makes the request invalid.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil, downloadingTo destination: URL
    ) {
        self.init(method, path, query, headers, body, timeoutInterval, isDecoded: false) { response in
            // A transport has written the body. It is here where a middleware, or a provider of a test, has answered in its place.
            if response.response.isAccepted, !response.data.isEmpty { try PartialFile.replace(destination, with: response.data) }
            return destination
        }
        self.destination = destination
    }
}

// Each returns a changed copy.
extension Endpoint {
    /// Changes what is sent at the very end: the cache policy, the network service type, a header that follows from the others.
    ///
    /// `adapt` runs when the request is built, on the subscriber's thread. An error that it throws reaches the subscriber unchanged, and
    /// nothing is sent. Several run in the order in which they were added.
    public func adapting(_ adapt: @escaping @Sendable (inout URLRequest) throws -> Void) -> Endpoint {
        var copy = self
        copy.adapt = { [first = self.adapt] request in
            try first(&request)
            try adapt(&request)
        }
        return copy
    }

    /// Replaces the check that the status is in 200...299.
    ///
    /// `validate` runs before the response is decoded, on a background queue. An error that it throws reaches the subscriber unchanged.
    /// Where it accepts a status that the type of the response does not expect, decoding fails.
    public func validating(_ validate: @escaping @Sendable (APIResponse) throws -> Void) -> Endpoint {
        var copy = self
        copy.validate = validate
        return copy
    }

    /// Transforms the value, on the same background queue. An error that `transform` throws fails the request.
    public func map<Value: Sendable>(_ transform: @escaping @Sendable (Response) throws -> Value) -> Endpoint<Value> {
        decoding { endpoint, response in try transform(endpoint.decoded(response)) }
    }

    /// Adds the response to the value, for its headers: pages, entity tags, rate limits.
    public func withResponse() -> Endpoint<(value: Response, response: APIResponse)> {
        decoding { endpoint, response in (try endpoint.decoded(response), response) }
    }

    /// Reports how the transfer goes, one call at a time, on the thread that the transport uses: a background queue. After a redirect and
    /// with each attempt of a retry it starts again.
    public func onProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> Endpoint {
        var copy = self
        copy.report = { [first = self.report] progress in
            first?(progress)
            report(progress)
        }
        return copy
    }

    /// Sets an option that middlewares read: `.option(\.retryPolicy, .never)`.
    public func option<Value: Sendable>(_ option: WritableKeyPath<RequestOptions, Value>, _ value: Value) -> Endpoint {
        var copy = self
        copy.options[keyPath: option] = value
        return copy
    }

    private func decoded(_ response: APIResponse) throws -> Response {
        try response.explainingDecodingErrors(of: Response.self) { try decode(response) }
    }

    private func decoding<Value>(_ decode: @escaping @Sendable (Endpoint, APIResponse) throws -> Value) -> Endpoint<Value> {
        var copy = Endpoint<Value>(method, path, query, headers, body, timeoutInterval, isDecoded: isDecoded) { try decode(self, $0) }
        (copy.options, copy.destination, copy.adapt, copy.report, copy.validate) = (options, destination, adapt, report, validate)
        return copy
    }
}

extension Endpoint: CustomStringConvertible, CustomReflectable {
    /// The method and the path: `GET /search/repositories`. Values may be secrets, and are left out.
    public var description: String { "\(method.rawValue) \(path)" }

    /// Shows the description alone, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["endpoint": description]) }
}
