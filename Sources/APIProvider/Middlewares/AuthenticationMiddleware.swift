import Foundation
public import MiniRx

/// Adds a token to each request, and refreshes it when the server answers 401.
///
/// ```swift
/// let authentication = AuthenticationMiddleware(token: keychain.accessToken) { _ in
///     login.request(RefreshRequest(refreshToken: keychain.refreshToken))
///         .map(\.accessToken)
/// }
/// let provider = DefaultAPIProvider(baseURL: api, middlewares: [authentication])
///
/// authentication.token = newToken  // after sign-in
/// authentication.token = nil  // after sign-out
/// ```
///
/// It is a ``CredentialMiddleware`` of a `String`. Its page says what happens when.
public typealias AuthenticationMiddleware = CredentialMiddleware<String>

extension CredentialMiddleware where Credential == String {
    /// Creates a middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The first token. Without one, `refresh` is called before the first request is sent.
    ///   - hosts: The hosts that the token is for: `["api.example.com"]`. By default, the token is for the scheme, host and port of the
    ///     provider's base URL. A provider without a base URL needs hosts.
    ///   - apply: Puts a token into a request. By default, it is a bearer token (RFC 6750, section 2.1). Errors, logs and recordings show the
    ///     token nowhere. It is called for each request that is sent, on any thread.
    ///   - isExpired: Returns whether a response says that the token has expired. By default, its status is 401. If it throws, the request
    ///     fails with that error.
    ///   - refresh: Returns a single of a new token. It gets the token that was refused, or `nil` if there was none. It is called on any
    ///     thread, and not again before its single has ended.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout PreparedRequest) throws -> Void = {
            $1.headers["Authorization"] = "Bearer \($0)"
        },
        isExpired: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        self.init(token, hosts: hosts, apply: apply, isExpired: isExpired, refresh: refresh)
    }

    /// Creates a middleware whose `refresh` is written with `async`. Its task is cancelled when a token is set meanwhile.
    ///
    /// The other parameters are those of ``init(token:hosts:apply:isExpired:refresh:)-(_,_,_,_,(String?)->Single<String>)``.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout PreparedRequest) throws -> Void = {
            $1.headers["Authorization"] = "Bearer \($0)"
        },
        isExpired: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: String?) async throws -> String
    ) {
        self.init(token, hosts: hosts, apply: apply, isExpired: isExpired, refresh: refresh)
    }

    /// The current token: ``credential`` by its other name.
    public var token: String? {
        get { credential }
        set { credential = newValue }
    }
}
