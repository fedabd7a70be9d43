public import Foundation
public import MiniRx

/// Adds a credential of your own type to each request, and refreshes it when the server refuses it, or before it expires.
///
/// ```swift
/// struct Session: Codable, Sendable {
///     var accessToken, refreshToken: String, expires: Date
/// }
///
/// let authentication = CredentialMiddleware(
///     keychain.session,
///     apply: {
///         $1.headers["Authorization"] = "Bearer \($0.accessToken)"
///     },
///     expiry: { $0.expires - 60 }
/// ) { expired in
///     guard let expired else { throw SignInError.needed }
///     let refresh = RefreshRequest(refreshToken: expired.refreshToken)
///     let session = try await login.request(refresh).value
///     keychain.session = session
///     return session
/// }
/// ```
///
/// For a plain token, use ``AuthenticationMiddleware``.
///
/// If many requests are refused at the same time, there is one refresh, and each request is sent once more with the new credential. A
/// request that is in flight during the refresh and is refused later is also sent once more, without another refresh.
///
/// A request belongs to the user who was signed in when it was subscribed to. After sign-out it is not sent, nor sent again by a
/// ``RetryMiddleware``. It fails instead.
///
/// Some requests are not sent again, and the refusal is their answer: a request that was sent again already, one that lost its credential on
/// a redirect, and one whose user has signed out.
///
/// If the refresh fails, all requests that wait for it fail with its error. The next request tries again. A waiting request keeps its own
/// timeout. A refresh that has begun goes on when no request waits any more, because the server may already have replaced the credential.
/// Give it a timeout: all requests wait until it ends.
///
/// If the server also refuses the new credential, that is the answer, and a refusal starts no other refresh for a minute. So an endpoint
/// that always answers 401 does not cause a refresh for each request.
///
/// The credential is sent to its hosts only, and over `http` only if the base URL is `http`. Requests to other hosts have none, nor have
/// endpoints with `.option(\.isAuthenticated, false)`.
///
/// Send the refresh through a provider without this middleware, or with that option. Otherwise it would wait for itself. It then fails with
/// an error that says so, or with a timeout if it was sent from another queue. A request that the
/// refresh subscribes to on the task or thread that calls it takes no place of a ``ConcurrencyLimitMiddleware``, because the requests that
/// wait for the refresh may have all of them. Write a refresh of several requests with `async`.
public final class CredentialMiddleware<Credential: Sendable>: Middleware {
    private let credentials: CredentialStore<Credential>
    private let hosts: Set<String>?
    private let apply: @Sendable (Credential, inout PreparedRequest) throws -> Void
    private let expiry: @Sendable (Credential) -> Date?
    private let isExpired: @Sendable (APIResponse) throws -> Bool
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
    ///   - expiry: Returns the date from which a credential is refreshed before it is sent; `nil` is never. Leave some time for clocks that
    ///     differ: `{ $0.expires - 60 }`.
    ///   - isExpired: Returns whether a response says that the credential has expired. By default, its status is 401. If it throws, the
    ///     request fails with that error.
    ///   - refresh: Returns a single of a new credential. It gets the one that was refused, or `nil` if there was none. It is called on any
    ///     thread, and not again before its single has ended.
    public convenience init(
        _ credential: Credential? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil },
        isExpired: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) -> Single<Credential>
    ) {
        self.init(
            credential, hosts: hosts, scheduler: ConcurrentDispatchQueueScheduler(qos: .default), now: { Date() }, apply: apply,
            expiry: expiry, isExpired: isExpired, refresh: refresh)
    }

    /// Creates a middleware whose `refresh` is written with `async`. Its task is cancelled when a credential is set meanwhile.
    ///
    /// The other parameters are those of ``init(_:hosts:apply:expiry:isExpired:refresh:)-(_,_,_,_,_,(Credential?)->Single<Credential>)``.
    public convenience init(
        _ credential: Credential? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil },
        isExpired: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) async throws -> Credential
    ) {
        self.init(credential, hosts: hosts, apply: apply, expiry: expiry, isExpired: isExpired) { expired in
            Single.create { try await refresh(expired) }
        }
    }

    /// Creates a middleware with a scheduler for the timeouts of waiting requests, and with a clock.
    package init(
        _ credential: Credential?, hosts: Set<String>? = nil, scheduler: any Scheduler, now: @escaping @Sendable () -> Date = { Date() },
        apply: @escaping @Sendable (_ credential: Credential, inout PreparedRequest) throws -> Void,
        expiry: @escaping @Sendable (_ credential: Credential) -> Date? = { _ in nil },
        isExpired: @escaping @Sendable (_ response: APIResponse) throws -> Bool = { $0.statusCode == 401 },
        refresh: @escaping @Sendable (_ expired: Credential?) -> Single<Credential>
    ) {
        credentials = CredentialStore(credential, scheduler: scheduler, refresh: refresh)
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        (self.apply, self.expiry, self.isExpired, self.now) = (apply, expiry, isExpired, now)
    }

    /// The current credential. Set it at sign-in. Set it to `nil` at sign-out, also before another user signs in.
    ///
    /// Setting it cancels a refresh that is under way. Requests that wait for the refresh continue with the new credential. At sign-out, all
    /// requests that wait fail, and requests in flight are not sent again, so nothing is sent in another user's name.
    public var credential: Credential? {
        get { credentials.current }
        set { credentials.current = newValue }
    }

    /// Returns the response to `request` with the credential, or to the second attempt with a new one.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard request.options.isAuthenticated, try isMeant(for: request) else { return next(request) }
        } catch {
            return .error(error)
        }
        let began = request.context?.latestSignOut ?? SignOuts.latest
        return credential(of: began, for: request).flatMap { [self] credential in
            guard let date = expiry(credential.value), date <= now(), credentials.expire(credential, of: began) else {
                return send(request, with: credential, of: began, next)
            }
            return self.credential(of: began, for: request).flatMap { self.send(request, with: $0, of: began, next) }
        }
    }

    private func send(
        _ request: PreparedRequest, with credential: NumberedCredential<Credential>, of began: Int, _ next: @escaping Next
    ) -> Single<APIResponse> {
        .deferred { [self] in
            let authorized = try applying(credential.value, to: request)
            return next(authorized).flatMap { [self] response in
                guard try refuses(authorized, request, response) else { return .just(response) }
                guard credentials.refuse(credential, of: began),
                    let again = request.isIdempotent ? request : request.resumed(at: response.request)
                else { return .just(response) }
                return self.credential(of: began, for: request).flatMap { try self.sendAgain(again, with: $0, next) }
            }
        }
    }

    private func sendAgain(
        _ request: PreparedRequest, with credential: NumberedCredential<Credential>, _ next: Next
    ) throws -> Single<APIResponse> {
        let authorized = try applying(credential.value, to: request)
        return next(authorized).do(onSuccess: { [self] response in
            if try refuses(authorized, request, response) { credentials.refuseAgain(credential) }
        })
    }

    /// Whether `response` refuses the credential that `authorized` has and `request` has not.
    private func refuses(_ authorized: PreparedRequest, _ request: PreparedRequest, _ response: APIResponse) throws -> Bool {
        try isExpired(response) && !response.hasLost(what: authorized, hasMoreThan: request)
    }

    private func isMeant(for request: PreparedRequest) throws -> Bool {
        let (url, baseURL) = (request.url, request.context?.baseURL)
        guard let hosts else {
            guard let baseURL else {
                throw APIError.invalid(
                    "its AuthenticationMiddleware does not know which hosts the token is for; give it hosts:, or give the provider "
                        + "a baseURL:"
                )
            }
            return url.origin == baseURL.origin
        }
        if let entry = hosts.first(where: { $0.contains("/") || $0.contains(":") && !$0.contains("[") }) {
            throw APIError.invalid(
                "\"\(entry)\" in the hosts of AuthenticationMiddleware is not a host; write it as \"api.example.com\"")
        }
        return hosts.contains(url.host?.lowercased() ?? "")
            && (url.origin.hasPrefix("https:") || baseURL?.origin.hasPrefix("http:") == true)
    }

    private func credential(of began: Int, for request: PreparedRequest) -> Single<NumberedCredential<Credential>> {
        let timeout = DispatchTimeInterval.wholeMilliseconds(request.timeoutInterval ?? 60)
        return credentials.valid(of: began, within: timeout) {
            let reason = "it timed out while it waited for a new token; is the refresh itself sent through this provider?"
            return APIError.transport(request, underlying: URLError(.timedOut, reason: reason))
        }
    }

    private func applying(_ credential: Credential, to request: PreparedRequest) throws -> PreparedRequest {
        let token = credential as? String
        var authorized = request
        try apply(credential, &authorized)
        let fields = authorized.headers(notIn: request).compactMap { authorized.headers[$0] }
        guard (fields + [token].compactMap { $0 }).allSatisfy(\.isFieldValue) else {
            let cause = "a file that it was read from may end in a line break"
            throw APIError.invalid("its \(token == nil ? "credential" : "token") has a line break or a NUL; \(cause)")
        }
        if token == nil, authorized.hasNothing(notIn: request) { try checkThatSomethingIsAdded(by: credential, to: request) }
        authorized.secrets.add(token.map { [$0] } ?? fields.compactMap { $0.split(separator: " ").last.map(String.init) })
        return authorized
    }

    /// Throws if `credential` adds nothing to a request without headers. A request that follows a redirect may have the credential already.
    private func checkThatSomethingIsAdded(by credential: Credential, to request: PreparedRequest) throws {
        var plain = request
        plain.headers = [:]
        var authorized = plain
        try apply(credential, &authorized)
        guard authorized.hasNothing(notIn: plain) else { return }
        throw APIError.invalid("its credential has added nothing to it; set a header in apply")
    }
}

extension RequestOptions {
    /// Whether ``AuthenticationMiddleware`` adds its credential. With `false`, the request has none, and a 401 starts no refresh.
    public var isAuthenticated: Bool {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}

private enum AuthenticationKey: RequestOptionKey { static var defaultValue: Bool { true } }

extension APIResponse {
    /// Whether a redirect to another origin has dropped the credential. A 401 then says nothing about the token.
    fileprivate func hasLost(what authorized: PreparedRequest, hasMoreThan plain: PreparedRequest) -> Bool {
        authorized.url.origin != request.url.origin
            || authorized.headers(notIn: plain).contains { request.headers[$0] == nil }
    }
}

extension PreparedRequest {
    /// Whether its URL, its body and each of its headers are those of `other`.
    fileprivate func hasNothing(notIn other: PreparedRequest) -> Bool {
        headers(notIn: other).isEmpty && url == other.url && body?.pieces == other.body?.pieces
    }

    /// The names of the headers that `other` has not, or with other values.
    fileprivate func headers(notIn other: PreparedRequest) -> [String] {
        headers.filter { other.headers[$0.name] != $0.value }.map(\.name)
    }
}
