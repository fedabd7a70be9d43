public import Foundation
public import MiniRx

/// Adds a credential to each request, and refreshes the credential after a rejection or before the expiry.
///
/// ```swift
/// let authentication = AuthenticationMiddleware(token: keychain.accessToken) { _ in
///     login.request(RefreshRequest(refreshToken: keychain.refreshToken))
///         .map(\.accessToken)
/// }
/// let provider = DefaultAPIProvider(baseURL: api, middlewares: [authentication])
///
/// authentication.credential = newToken  // after sign-in
/// authentication.credential = nil  // after sign-out
/// ```
///
/// The credential is sent only to its hosts: by default, to the origin of the base URL. It may also be your own type, such as a pair of
/// tokens.
///
/// All requests rejected at the same time wait for one refresh, and are then sent once more. If the refresh fails, they fail with the same
/// error. Without a `refresh`, the caller gets each 401, and requests without a credential are sent as they are.
///
/// Send the refresh through a provider without this middleware, or with `.option(\.isAuthenticated, false)`. Give it a timeout, because all
/// requests wait for its end.
///
/// A request belongs to the user signed in at the subscription. After sign-out, an unsent request fails with ``APIError/signedOut``.
///
/// <doc:StayingSignedIn> shows a program without and with the middleware, and has the exceptions.
public final class AuthenticationMiddleware<Credential: Sendable>: Middleware {
    private let credentials: CredentialStore<Credential>
    private let hosts: AllowedHosts
    private let apply: @Sendable (Credential, inout PreparedRequest) throws -> Void
    private let expiry: @Sendable (Credential) -> Date?
    private let leeway: TimeInterval
    private let isRejected: @Sendable (APIResponse) throws -> Bool
    private let now: @Sendable () -> Date

    /// Creates a middleware that starts with `credential`.
    ///
    /// - Parameters:
    ///   - credential: The first credential. Without one, `refresh` is called before the first request is sent.
    ///   - hosts: The credential's hosts: `["api.example.com"]`. By default, the base URL's scheme, host and port. A provider without a
    ///     base URL needs hosts.
    ///   - apply: Adds a credential to a request. Errors, logs and recordings hide the headers set here. If the closure throws, the request
    ///     fails with that error. If the closure adds nothing, the request fails, too. Called for each sent request, on any thread.
    ///   - expiry: Returns a credential's expiry date; `nil` is never. An expired credential is not sent. A refreshed credential is used
    ///     for at least a minute.
    ///   - leeway: The number of seconds before the `expiry` to refresh a credential, such as 60 for differing clocks.
    ///   - isRejected: Returns whether a response rejects the credential: by default, with a status 401. If the closure throws, the request
    ///     fails with that error.
    ///   - refresh: Returns a single with a new credential. Gets the rejected or expired one, or `nil` without one. Called on any thread,
    ///     and not again before the single ends.
    public convenience init(
        _ credential: Credential? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) -> Single<Credential>
    ) {
        self.init(
            credential, hosts: hosts, scheduler: ConcurrentDispatchQueueScheduler(qos: .default), now: { Date() }, apply: apply,
            expiry: expiry, leeway: leeway, isRejected: isRejected, refresh: refresh)
    }

    /// Creates a middleware with an `async` `refresh`. Setting another credential cancels the refresh's task.
    ///
    /// The other parameters are as in the initializer with a `refresh` that returns a single.
    @_disfavoredOverload
    public convenience init(
        _ credential: Credential? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) async throws -> Credential
    ) {
        self.init(credential, hosts: hosts, apply: apply, expiry: expiry, leeway: leeway, isRejected: isRejected) { expired in
            Single.create { try await refresh(expired) }
        }
    }

    /// Creates a middleware without a refresh: the caller gets each 401. Without a credential, requests are sent as they are.
    ///
    /// - Parameters:
    ///   - credential: The first credential.
    ///   - hosts: The credential's hosts: `["api.example.com"]`. By default, the base URL's scheme, host and port. A provider without a
    ///     base URL needs hosts.
    ///   - apply: Adds a credential to a request. Errors, logs and recordings hide the headers set here. If the closure throws, the request
    ///     fails with that error. If the closure adds nothing, the request fails, too. Called for each sent request, on any thread.
    public convenience init(
        _ credential: Credential? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void
    ) {
        self.init(credential, hosts: hosts, scheduler: ConcurrentDispatchQueueScheduler(qos: .default), apply: apply, refresh: nil)
    }

    /// Creates a middleware with a scheduler for the timeouts of waiting requests, and with a clock.
    package init(
        _ credential: Credential?, hosts: Set<String>? = nil, scheduler: any Scheduler, now: @escaping @Sendable () -> Date = { Date() },
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: (@Sendable (_ expired: Credential?) -> Single<Credential>)?
    ) {
        credentials = CredentialStore(credential, scheduler: scheduler, refresh: refresh)
        self.hosts = AllowedHosts(hosts, of: "AuthenticationMiddleware")
        (self.apply, self.expiry, self.leeway, self.isRejected, self.now) = (apply, expiry, leeway, isRejected, now)
    }

    /// The current credential. Set this property at sign-in, and to `nil` at sign-out, even if another user signs in at once.
    ///
    /// A refresh returns the credential, and need not set this property. If an `async` refresh does so anyway, that counts as the return,
    /// and after a sign-out for nothing.
    ///
    /// Setting the credential cancels a running refresh. Waiting requests continue with the new credential, on a background queue. At
    /// sign-out, all waiting requests fail there, and requests in flight are not sent again, so nothing is sent in another user's name.
    public var credential: Credential? {
        get { credentials.current }
        set { credentials.current = newValue }
    }

    // MARK: - Answering a request

    /// Passes `request` to `next` with the credential, and after a rejection once more with a new one.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard request.options.isAuthenticated, try hosts.contains(request) else { return next(request) }
            try request.checkHoldsNoPermit()
        } catch {
            return .error(error)
        }
        let signOutCount = request.signOutCount ?? SignOutCounter.current
        return unexpiredCredential(signOutCount: signOutCount, for: request).flatMap { [self] credential in
            send(request, with: credential, signOutCount: signOutCount, next)
        }
    }

    private func unexpiredCredential(
        signOutCount: Int, after expired: VersionedCredential<Credential>? = nil, for request: PreparedRequest
    ) -> Single<VersionedCredential<Credential>> {
        credential(signOutCount: signOutCount, after: expired, for: request).flatMap { [self] credential in
            // A new credential is sent before another refresh, whatever the expiry.
            guard expired.map({ $0.version == credential.version }) ?? true, let date = credential.value.flatMap(expiry),
                date - leeway <= now(), credentials.markExpired(credential, isEarly: now() < date)
            else { return .just(credential) }
            return unexpiredCredential(signOutCount: signOutCount, after: credential, for: request)
        }
    }

    private func send(
        _ request: PreparedRequest, with credential: VersionedCredential<Credential>, signOutCount: Int, _ next: @escaping Next
    ) -> Single<APIResponse> {
        .deferred { [self] in
            let authorized = try applying(credential.value, to: request)
            return next(authorized).flatMap { [self] response in
                guard try isRejection(authorized, request, response) else { return .just(response) }
                guard credentials.markRejected(credential, signOutCount: signOutCount),
                    response.request.redirects.isEmpty || response.request.isIdempotent
                else { return .just(response) }
                return self.credential(signOutCount: signOutCount, after: credential, for: request)
                    .flatMap { try self.sendAgain(request, with: $0, next) }
            }
        }
    }

    private func sendAgain(
        _ request: PreparedRequest, with credential: VersionedCredential<Credential>, _ next: Next
    ) throws -> Single<APIResponse> {
        let authorized = try applying(credential.value, to: request)
        return next(authorized).do(onSuccess: { [self] response in
            if try isRejection(authorized, request, response) { credentials.pauseRefreshes(after: credential) }
        })
    }

    /// Whether `response` rejects the credential added to `request` in `authorized`.
    private func isRejection(_ authorized: PreparedRequest, _ request: PreparedRequest, _ response: APIResponse) throws -> Bool {
        try isRejected(response) && !response.hasDroppedCredential(of: authorized, addedTo: request)
    }

    private func credential(
        signOutCount: Int, after rejected: VersionedCredential<Credential>? = nil, for request: PreparedRequest
    ) -> Single<VersionedCredential<Credential>> {
        let timeout = DispatchTimeInterval(seconds: request.timeoutInterval ?? 60)
        return credentials.credential(signOutCount: signOutCount, after: rejected, within: timeout) {
            let reason = "it timed out while it waited for a new credential; is the refresh itself sent through this provider?"
            return APIError.transport(request, underlying: URLError(.timedOut, userInfo: [NSLocalizedFailureReasonErrorKey: reason]))
        }
    }

    private func applying(_ credential: Credential?, to request: PreparedRequest) throws -> PreparedRequest {
        guard let credential else { return request }
        let token = credential as? String
        var authorized = request
        try apply(credential, &authorized)
        let fields = authorized.headers(notIn: request).compactMap { authorized.headers[$0] }
        guard (fields + [token].compactMap { $0 }).allSatisfy(\.isFieldValue) else {
            let name = token == nil ? "credential" : "token"
            throw APIError.invalidRequest(reason: "its \(name) contains a control character; if you read it from a file, trim it")
        }
        if authorized.addsNothing(to: request) { try requireCredential(credential, in: request) }
        for secret in token.map({ [$0] }) ?? fields.compactMap({ $0.parts(between: UInt8(ascii: " ")).last.map(String.init) }) {
            authorized.hide(secret)
        }
        return authorized
    }

    /// Throws if `credential` would add nothing even to a request without headers. A request that already has the credential is right: with a
    /// `CacheMiddleware`, a redirected request passes through here a second time.
    private func requireCredential(_ credential: Credential, in request: PreparedRequest) throws {
        var plain = request
        plain.headers = [:]
        var authorized = plain
        try apply(credential, &authorized)
        guard authorized.addsNothing(to: plain) else { return }
        throw APIError.invalidRequest(reason: "its credential has added nothing to it; set a header in apply")
    }
}

// MARK: - Tokens

extension AuthenticationMiddleware where Credential == String {
    /// Creates a middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The first token. Without one, `refresh` is called before the first request is sent.
    ///   - hosts: The token's hosts: `["api.example.com"]`. By default, the base URL's scheme, host and port. A provider without a base URL
    ///     needs hosts.
    ///   - apply: Adds a token to a request, by default as a bearer token (RFC 6750, section 2.1). Errors, logs and recordings show the
    ///     token nowhere. If the closure adds nothing, the request fails. Called for each sent request, on any thread.
    ///   - expiry: Returns a token's expiry date, such as from a JSON Web Token; `nil` is never. An expired token is not sent. A refreshed
    ///     token is used for at least a minute.
    ///   - leeway: The number of seconds before the `expiry` to refresh a token, such as 60 for differing clocks.
    ///   - isRejected: Returns whether a response rejects the token: by default, with a status 401. If the closure throws, the request
    ///     fails with that error.
    ///   - refresh: Returns a single with a new token. Gets the rejected or expired one, or `nil` without one. Called on any thread, and
    ///     not again before the single ends.
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

    /// Creates a middleware without a refresh: the caller gets each 401. Without a token, requests are sent as they are.
    ///
    /// - Parameters:
    ///   - token: The first token.
    ///   - hosts: The token's hosts: `["api.example.com"]`. By default, the base URL's scheme, host and port. A provider without a base URL
    ///     needs hosts.
    ///   - apply: Adds a token to a request, by default as a bearer token (RFC 6750, section 2.1). Errors, logs and recordings show the
    ///     token nowhere. If the closure adds nothing, the request fails. Called for each sent request, on any thread.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout PreparedRequest) throws -> Void = {
            $1.headers["Authorization"] = "Bearer \($0)"
        }
    ) {
        self.init(token, hosts: hosts, apply: apply)
    }

    /// Creates a middleware with an `async` `refresh`:
    ///
    /// ```swift
    /// AuthenticationMiddleware(token: keychain.accessToken) { _ in
    ///     let request = RefreshRequest(refreshToken: keychain.refreshToken)
    ///     return try await login.request(request).value.accessToken
    /// }
    /// ```
    ///
    /// Setting another token cancels the refresh's task. The other parameters are as in the initializer with a `refresh` that returns a
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
