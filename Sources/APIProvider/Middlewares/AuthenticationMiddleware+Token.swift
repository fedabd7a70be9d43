public import Foundation
public import MiniRx

extension AuthenticationMiddleware where Credential == String {
    /// Creates a middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The first token. Without one, `refresh` is called before the first request is sent.
    ///   - hosts: The hosts that the token is for: `["api.example.com"]`. By default, the token is for the scheme, host and port of the
    ///     provider's base URL. A provider without a base URL needs hosts.
    ///   - apply: Puts a token into a request. By default, it is a bearer token (RFC 6750, section 2.1). Errors, logs and recordings show
    ///     the token nowhere. If it adds nothing, the request fails. It is called for each request that is sent, on any thread.
    ///   - expiry: Returns the date at which a token expires, and is no longer sent, such as that in a JSON Web Token; `nil` is never. A
    ///     token that a refresh has returned is used for at least a minute.
    ///   - leeway: For how many seconds before its `expiry` a token is refreshed, such as 60 for clocks that differ.
    ///   - isRejected: Returns whether a response rejects the token. By default, its status is 401. If it throws, the request
    ///     fails with that error.
    ///   - refresh: Returns a single of a new token. It gets the token that was rejected, or `nil` if there was none. It is called on any
    ///     thread, and not again before its single has ended.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout PreparedRequest) throws -> Void = {
            $1.headers["Authorization"] = "Bearer \($0)"
        },
        expiry: @escaping @Sendable (_ token: String) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        self.init(token, hosts: hosts, apply: apply, expiry: expiry, leeway: leeway, isRejected: isRejected, refresh: refresh)
    }

    /// Creates a middleware whose `refresh` is `async`:
    ///
    /// ```swift
    /// AuthenticationMiddleware(token: keychain.accessToken) { _ in
    ///     let request = RefreshRequest(refreshToken: keychain.refreshToken)
    ///     return try await login.request(request).value.accessToken
    /// }
    /// ```
    ///
    /// The refresh is a task, which is cancelled when another token is set. The parameters are those of the initializer whose `refresh` returns a
    /// single.
    @_disfavoredOverload
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout PreparedRequest) throws -> Void = {
            $1.headers["Authorization"] = "Bearer \($0)"
        },
        expiry: @escaping @Sendable (_ token: String) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: String?) async throws -> String
    ) {
        self.init(token, hosts: hosts, apply: apply, expiry: expiry, leeway: leeway, isRejected: isRejected, refresh: refresh)
    }
}

extension RequestOptions {
    /// Whether ``AuthenticationMiddleware`` adds its credential. With `false`, the request has none, and a 401 starts no refresh.
    public var isAuthenticated: Bool {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}

private enum AuthenticationKey: BuiltInOptionKey { static var defaultValue: Bool { true } }
