public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Adds a token to each request, and refreshes it when the server answers 401.
///
/// ```swift
/// let authentication = AuthenticationMiddleware(token: keychain.accessToken) { _ in
///     login.request(RefreshRequest(refreshToken: keychain.refreshToken)).map(\.accessToken)
/// }
/// let provider = DefaultAPIProvider(baseURL: api, middlewares: [authentication])
///
/// authentication.token = newToken  // after sign-in
/// authentication.token = nil       // after sign-out
/// ```
///
/// If many requests get a 401 at the same time, there is one refresh, and each request is sent once more with the new token. A request that
/// is in flight during the refresh and gets a 401 later is also sent once more, without another refresh.
///
/// A request belongs to the user who was signed in when it was subscribed to. After sign-out it is not sent, nor sent again by a
/// ``RetryMiddleware``. It fails instead.
///
/// Some requests are not sent again, and the 401 is their answer: a request that was sent again already, one whose body is a stream of
/// yours, one that lost its token on a redirect, and one whose user has signed out.
///
/// If the refresh fails, all requests that wait for it fail with its error. The next request tries again. A waiting request keeps its own
/// timeout. Disposing one request does not stop the refresh, unless no other request waits for it.
///
/// The token is sent to its hosts only, and over `http` only if the base URL is `http`. Requests to other hosts have no token, nor have
/// endpoints with `.option(\.isAuthenticated, false)`.
///
/// Send the refresh through a provider without this middleware, or with that option. Otherwise it would wait for itself. It then fails with
/// an error that says so, or with a timeout if it was sent from another queue.
public final class AuthenticationMiddleware: Middleware {
    private let credentials: CredentialStore
    private let hosts: Set<String>?
    private let apply: @Sendable (String, inout URLRequest) -> Void
    private let scheduler: any Scheduler

    /// Creates a middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The first token. Without one, `refresh` is called before the first request is sent.
    ///   - hosts: The hosts that the token is for: `["api.example.com"]`. By default, the token is for the scheme, host and port of the
    ///     provider's base URL. A provider without a base URL needs hosts.
    ///   - apply: Puts a token into a request. By default, it is a bearer token (RFC 6750, section 2.1). Errors, logs and recordings show the
    ///     token nowhere. It is called for each request that is sent, on any thread.
    ///   - refresh: Returns a single of a new token. It gets the token that was refused, or `nil` if there was none. It is called on any
    ///     thread, and not again before its single has ended.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout URLRequest) -> Void = {
            $1.setValue("Bearer \($0)", forHTTPHeaderField: "Authorization")
        },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        self.init(token: token, hosts: hosts, scheduler: ConcurrentDispatchQueueScheduler(qos: .default), apply: apply, refresh: refresh)
    }

    /// Creates a middleware with a scheduler for the timeouts of waiting requests.
    package init(
        token: String?, hosts: Set<String>? = nil, scheduler: any Scheduler,
        apply: @escaping @Sendable (_ token: String, inout URLRequest) -> Void = {
            $1.setValue("Bearer \($0)", forHTTPHeaderField: "Authorization")
        },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        credentials = CredentialStore(token: token, refresh: refresh)
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        self.apply = apply
        self.scheduler = scheduler
    }

    /// The current token. Set it at sign-in. Set it to `nil` at sign-out, also before another user signs in.
    ///
    /// Setting it cancels a refresh that is under way. Requests that wait for the refresh continue with the new token. At sign-out, all
    /// requests that wait fail, and requests in flight are not sent again, so nothing is sent in another user's name.
    public var token: String? {
        get { credentials.token }
        set { credentials.token = newValue }
    }

    /// Returns the response to `request` with the token, or to the second attempt with a new token.
    public func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse> {
        do {
            guard options.isAuthenticated, try isMeant(for: request, options.baseURL) else { return next(request) }
        } catch {
            return .error(error)
        }
        let began = options.latestSignOut ?? SignOuts.latest
        return credential(of: began, for: request).flatMap { [self] credential in
            let authorized = try applying(credential, to: request)
            return next(authorized).flatMap { [self] response in
                guard response.statusCode == 401, !response.hasLost(what: authorized, hasMoreThan: request) else { return .just(response) }
                guard credentials.expire(credential, of: began), request.canBeSentAgain else { return .just(response) }
                return self.credential(of: began, for: request).flatMap { next(try self.applying($0, to: request)) }
            }
        }
    }

    private func isMeant(for request: URLRequest, _ baseURL: URL?) throws -> Bool {
        guard let url = request.url else { return false }
        guard let hosts else {
            guard let baseURL else {
                throw APIError.invalidRequest(
                    reason: "its AuthenticationMiddleware does not know which hosts the token is for; give it hosts:, or give the provider "
                        + "a baseURL:"
                )
            }
            return url.origin == baseURL.origin
        }
        if let entry = hosts.first(where: { $0.contains("/") || $0.contains(":") && !$0.contains("[") }) {
            throw APIError.invalidRequest(
                reason: "\"\(entry)\" in the hosts of AuthenticationMiddleware is not a host; write it as \"api.example.com\"")
        }
        return hosts.contains(url.host?.lowercased() ?? "")
            && (url.origin.hasPrefix("https:") || baseURL?.origin.hasPrefix("http:") == true)
    }

    private func credential(of began: Int, for request: URLRequest) -> Single<Credential> {
        let timeout = DispatchTimeInterval.nanoseconds(Int(max(0, min(request.timeoutInterval, 1e6)) * 1e9))
        return credentials.valid(of: began, within: timeout, on: scheduler).mapError { error in
            guard error is RxError else { return error }
            let reason = "it timed out while it waited for a new token; is the refresh itself sent through this provider?"
            return APIError.transport(request, underlying: URLError(.timedOut, userInfo: [URLError.reasonKey: reason]))
        }
    }

    private func applying(_ credential: Credential, to request: URLRequest) throws -> URLRequest {
        guard credential.token.isFieldValue else {
            // Linux drops a header with such a value without an error.
            let cause = "a file that it was read from may end in a line break"
            throw APIError.invalidRequest(reason: "its token has a line break or a NUL; \(cause)")
        }
        var authorized = request
        apply(credential.token, &authorized)
        authorized.addSecrets([credential.token])
        return authorized
    }
}

extension RequestOptions {
    /// Whether ``AuthenticationMiddleware`` adds its credential. With `false`, the request has none, and a 401 starts no refresh.
    public var isAuthenticated: Bool {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }

    /// The latest sign-out of anybody when the request was subscribed to.
    var latestSignOut: Int? {
        get { self[LatestSignOutKey.self] }
        set { self[LatestSignOutKey.self] = newValue }
    }
}

private enum AuthenticationKey: RequestOptionKey { static var defaultValue: Bool { true } }
private enum LatestSignOutKey: RequestOptionKey { static var defaultValue: Int? { nil } }

extension AuthenticationMiddleware: CustomStringConvertible, CustomReflectable {
    /// The name of the type, without the token.
    public var description: String { "AuthenticationMiddleware" }

    /// An empty mirror, so that `dump` does not show the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension APIResponse {
    /// Whether a redirect to another origin has dropped the credential. A 401 then says nothing about the token.
    fileprivate func hasLost(what authorized: URLRequest, hasMoreThan plain: URLRequest) -> Bool {
        authorized.url?.origin != request.url?.origin
            || authorized.headers(notIn: plain).contains { request.value(forHTTPHeaderField: $0) == nil }
    }
}

extension URLRequest {
    /// The names of the headers that `other` has not, or with other values.
    fileprivate func headers(notIn other: URLRequest) -> [String] {
        (allHTTPHeaderFields ?? [:]).filter { other.value(forHTTPHeaderField: $0.key) != $0.value }.map(\.key)
    }
}
