public import Foundation
public import MiniRx

/// Adds a credential to each request, and refreshes it when the server rejects it, or before it expires.
///
/// For a bearer token, the credential is a `String`:
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
/// It may also be a type of your own, such as a pair of tokens: <doc:StayingSignedIn> shows a program without the middleware, and with it.
/// In `async` code, the refresh is a `Single.create(priority:work:)`.
///
/// ### The refresh
///
/// If many requests are rejected at the same time, there is one refresh, and each request is sent once more with the new credential. A
/// request that is in flight during the refresh and is rejected later is also sent once more, without another refresh.
///
/// If the refresh fails, all requests that wait for it fail with its error, and so does each request that was sent before and is rejected
/// later. The next request tries again. A request that waits fails after its `timeoutInterval`, or after 60 seconds if it has none of its
/// own. A refresh goes on when no request waits for it anymore, because the server may already have replaced the credential. Give the
/// refresh a timeout, because until it ends, all requests wait.
///
/// A credential that a refresh has returned counts as valid for a minute, whatever `expiry` says: the clock of the device may be wrong.
///
/// With a `leeway`, a credential is refreshed that long before its `expiry`. If that fails, no request fails: the credential is used until
/// it expires or the server rejects it, and ten seconds later another refresh starts.
///
/// If the server also rejects the new credential, the caller gets that response, and no rejection starts another refresh for a minute. So
/// an endpoint that always answers 401 does not cause a refresh for each request.
///
/// The caller also gets the rejection of:
///
/// - a request that lost its credential on a redirect,
/// - a redirected request that is not idempotent,
/// - a request whose user has signed out.
///
/// ### Which requests get the credential
///
/// The credential is sent to its hosts only, and over `http` only if the base URL is `http`. Requests to other hosts, and
/// endpoints with `.option(\.isAuthenticated, false)`, are sent without it.
///
/// A redirect to another origin drops the credential, also if both are in `hosts`, unless a middleware before this one follows the
/// redirect, as `CacheMiddleware` does. The ``APIError/description`` of a 401 names the origin that has lost it.
///
/// A request belongs to the user who was signed in when it was subscribed to. After sign-out, one that has not been sent
/// fails with ``APIError/signedOut``. One in flight still gets its response, and is not sent again.
///
/// ### The provider of the refresh
///
/// Send the refresh through a provider without this middleware, or with `.option(\.isAuthenticated, false)`. Otherwise it would wait for
/// itself: it fails with an error that says so or, if another task or thread subscribes to it, with a timeout.
///
/// A ``ConcurrencyLimitMiddleware`` stands after this middleware in the list. If a refresh needs several requests, use
/// `Single.create(priority:work:)`, which sends them from one task.
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
    ///   - hosts: The hosts that the credential is for: `["api.example.com"]`. By default, it is for the scheme, host and port of the
    ///     provider's base URL. A provider without a base URL needs hosts.
    ///   - apply: Puts a credential into a request. Errors, logs and recordings do not show the headers that it sets. If it throws, the
    ///     request fails with that error. If it adds nothing, the request fails, too. It is called for each request that is sent, on any
    ///     thread.
    ///   - expiry: Returns the date at which a credential expires, and is no longer sent; `nil` is never. A credential that a refresh has
    ///     returned is used for at least a minute.
    ///   - leeway: For how many seconds before its `expiry` a credential is refreshed, such as 60 for clocks that differ.
    ///   - isRejected: Returns whether a response rejects the credential. By default, its status is 401. If it throws, the
    ///     request fails with that error.
    ///   - refresh: Returns a single of a new credential. It gets the one that was rejected, or `nil` if there was none. It is called on
    ///     any thread, and not again before its single has ended.
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

    /// Creates a middleware whose `refresh` is `async`. The refresh is a task, which is cancelled when another credential is set.
    ///
    /// The parameters are those of the initializer whose `refresh` returns a single.
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

    /// Creates a middleware with a scheduler for the timeouts of waiting requests, and with a clock.
    package init(
        _ credential: Credential?, hosts: Set<String>? = nil, scheduler: any Scheduler, now: @escaping @Sendable () -> Date = { Date() },
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil }, leeway: TimeInterval = 0,
        isRejected: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) -> Single<Credential>
    ) {
        credentials = CredentialStore(credential, scheduler: scheduler, refresh: refresh)
        self.hosts = AllowedHosts(hosts, of: "AuthenticationMiddleware")
        (self.apply, self.expiry, self.leeway, self.isRejected, self.now) = (apply, expiry, leeway, isRejected, now)
    }

    /// The current credential. Set it at sign-in. Set it to `nil` at sign-out, even if another user signs in at once.
    ///
    /// A refresh returns its credential, and need not set it. If an `async` refresh sets it all the same, that counts as the return, and
    /// after a sign-out for nothing.
    ///
    /// Setting it cancels a refresh that is under way. Requests that wait for the refresh continue with the new credential. At sign-out,
    /// all requests that wait fail, and requests in flight are not sent again, so nothing is sent in another user's name.
    public var credential: Credential? {
        get { credentials.current }
        set { credentials.current = newValue }
    }

    // MARK: - Answering a request

    /// Passes `request` to `next` with the credential. If the server rejects that, does so once more with a new one.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard request.options.isAuthenticated, try hosts.contains(request) else { return next(request) }
            try request.checkItHoldsNoPlace()
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
            // A new credential is not refreshed again before it is sent, whatever its date is.
            guard expired.map({ $0.version == credential.version }) ?? true, let date = expiry(credential.value), date - leeway <= now(),
                credentials.markExpired(credential, isDueOnly: now() < date)
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

    /// Whether `response` rejects the credential that `authorized` has and `request` has not.
    private func isRejection(_ authorized: PreparedRequest, _ request: PreparedRequest, _ response: APIResponse) throws -> Bool {
        try isRejected(response) && !response.hasDroppedCredential(of: authorized, addedTo: request)
    }

    private func credential(
        signOutCount: Int, after rejected: VersionedCredential<Credential>? = nil, for request: PreparedRequest
    ) -> Single<VersionedCredential<Credential>> {
        let timeout = DispatchTimeInterval(seconds: request.timeoutInterval ?? 60)
        return credentials.credential(signOutCount: signOutCount, after: rejected, within: timeout) {
            let reason = "it timed out while it waited for a new credential; is the refresh itself sent through this provider?"
            return APIError.transport(request, underlying: URLError(.timedOut, reason: reason))
        }
    }

    private func applying(_ credential: Credential, to request: PreparedRequest) throws -> PreparedRequest {
        let token = credential as? String
        var authorized = request
        try apply(credential, &authorized)
        let fields = authorized.headers(notIn: request).compactMap { authorized.headers[$0] }
        guard (fields + [token].compactMap { $0 }).allSatisfy(\.isFieldValue) else {
            let name = token == nil ? "credential" : "token"
            throw APIError.invalidRequest(reason: "its \(name) contains a control character; if you read it from a file, trim it")
        }
        if authorized.addsNothing(to: request) { try requireCredential(credential, in: request) }
        for secret in token.map({ [$0] }) ?? fields.compactMap({ $0.split(separator: " ").last.map(String.init) }) {
            authorized.hide(secret)
        }
        return authorized
    }

    /// Throws if `credential` adds nothing to a request without headers. With `CacheMiddleware`, requests that follow a redirect also pass
    /// through here, and they may have the credential already.
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
    /// The refresh is a task, which is cancelled when another token is set. The parameters are those of the initializer whose `refresh`
    /// returns a single.
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
