public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One call of an API: where it goes, what it sends, and what comes back.
///
/// ```swift
/// struct UserRequest: APIRequest {
///     typealias Response = User
///     let login: String
///     var baseURL: URL { gitHub }
///     var path: RequestPath { "/users/\(login)" }
/// }
/// ```
///
/// All but ``baseURL`` and ``Response`` has a default: a `GET` without query, headers or body, a status of 200...299, and a response by its
/// type: `Decodable` from JSON, `Data` and `String` as they come, ``Empty`` and `Void` whatever comes, an `Optional` that is `nil` for an
/// empty body.
///
/// A property counts with the type that it has below: `let path = "/user"` is a `String`, and `var body: HTTPBody` no optional, so that the
/// default is sent instead. The compiler warns of it when the conformance is an extension, and not when it stands at the type.
///
/// ## Targets that are isolated to the main actor
///
/// New Xcode projects isolate everything to the main actor by default. A model's `Decodable` then belongs to the main actor, where no
/// response is decoded, and the compiler says that the *request* "does not conform to protocol 'APIRequest'". The cure is one word on the
/// model, and on constants that requests use; requests themselves need none:
///
/// ```swift
/// nonisolated struct User: Decodable { let login: String }
/// nonisolated let gitHub = URL(string: "https://api.github.com")!
/// ```
public protocol APIRequest: Sendable {
    /// What the response decodes into.
    associatedtype Response: Sendable
    /// The API's address, with scheme and host. Its own path and query stay, and come first.
    var baseURL: URL { get }
    /// What is appended to the path of ``baseURL``, with one slash between them.
    var path: RequestPath { get }
    /// The request method; `GET` by default.
    var method: HTTPMethod { get }
    /// What is appended to the query of ``baseURL``.
    var query: QueryParameters { get }
    /// The headers. They take precedence over those that follow from ``body`` and ``Response``.
    var headers: HTTPHeaders { get }
    /// The body; `GET` and `HEAD` have none.
    var body: HTTPBody? { get }
    /// How long to wait for data, in seconds; `nil` is the session's setting.
    var timeoutInterval: TimeInterval? { get }

    /// Builds what is sent. Throw to send nothing: an error of your own reaches the subscriber as it is.
    func urlRequest() throws -> URLRequest
    /// Throws for a response that is not to be decoded. By default ``APIError/unacceptableStatus(_:)`` outside of 200...299.
    func validate(_ response: APIResponse) throws
    /// Makes the value of a response that passed ``validate(_:)``.
    func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> Response
}

extension APIRequest {
    /// No path beyond that of the base URL.
    public var path: RequestPath { "" }
    /// `GET`.
    public var method: HTTPMethod { .get }
    /// No parameters.
    public var query: QueryParameters { [:] }
    /// No headers beyond those that follow from body and response.
    public var headers: HTTPHeaders { [:] }
    /// No body.
    public var body: HTTPBody? { nil }
    /// The session's setting.
    public var timeoutInterval: TimeInterval? { nil }

    /// Builds the request from the properties, by the rules of ``RequestPath``, ``QueryParameters`` and ``HTTPHeaders``.
    ///
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` for a base URL without scheme or host, a path segment that is empty or
    ///   dots, a header that HTTP does not allow, a `GET` or `HEAD` with a body, and a body that cannot be encoded.
    public func urlRequest() throws -> URLRequest {
        try URLRequest(building: self)
    }

    /// Throws ``APIError/unacceptableStatus(_:)`` unless the status is in 200...299.
    public func validate(_ response: APIResponse) throws {
        guard response.response.isAccepted else { throw APIError.unacceptableStatus(response) }
    }
}

extension APIRequest where Response: Decodable {
    /// By the type: `Data` and `String` as they come, ``Empty`` whatever comes, an `Optional` `nil` for an empty body, else from JSON.
    public func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> Response {
        try response.decode(Response.self, using: decoder)
    }
}

extension APIRequest where Response == Void {
    /// Takes whatever comes.
    public func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> Response { () }
}
