/// A request to an API. Conform your own type, and write one property.
///
/// ```swift
/// struct UserRequest: APIRequest {
///     let login: String
///     var endpoint: Endpoint<User> { Endpoint(.get, "/users/\(login)") }
/// }
///
/// provider.request(UserRequest(login: "octocat"))
/// ```
///
/// An ``Endpoint`` is itself a request. Instead of a type, you can write a function that returns an endpoint:
///
/// ```swift
/// extension APIRequest where Self == Endpoint<User> {
///     static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
/// }
///
/// provider.request(.user("octocat"))
/// ```
///
/// ### Targets isolated to the main actor
///
/// New Xcode projects isolate everything to the main actor by default. A model's `Decodable` then belongs to the main actor, but responses
/// are decoded elsewhere. The compiler says "main actor-isolated conformance of 'User' to 'Decodable' cannot satisfy conformance
/// requirement for a 'Sendable' type parameter". Declare your models, the constants of requests, and your ``RequestOptionKey`` types
/// `nonisolated`. Requests themselves need nothing:
///
/// ```swift
/// nonisolated struct User: Decodable { let login: String }
/// nonisolated let gitHub = URL(string: "https://api.github.com")!
/// ```
public protocol APIRequest<Response>: Sendable {
    /// The value's type.
    // The default only improves the compiler's error if `endpoint` is missing.
    associatedtype Response: Sendable = Never
    /// The endpoint: the request's method, path, body and response.
    ///
    /// Read once for each subscription, on the subscriber's thread.
    var endpoint: Endpoint<Response> { get }
}
