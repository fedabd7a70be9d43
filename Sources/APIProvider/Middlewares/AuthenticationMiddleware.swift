public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Adds a credential to each request, and renews it when the server answers 401.
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
/// However many requests are answered 401 at the same time, there is one refresh, and each request is sent once more with the new token. A
/// request that is still in flight then and is refused later is sent once more, too, without another refresh.
///
/// The 401 is the answer to a request that was already sent again, to one whose body is a stream, to one that lost its credential on a
/// redirect, and to one whose user has signed out. If the refresh fails, all requests that wait for it fail with its error, and the next
/// request tries again. A request that waits keeps its own timeout. Disposing one request leaves the refresh to the others; the last one
/// cancels it.
///
/// The credential goes to its hosts alone, and over `http` only if the base URL is `http`. Requests for other hosts pass without it, and so
/// does an endpoint with `.option(\.isAuthenticated, false)`.
///
/// Send the refresh through a provider without this middleware, or with that option: through this one it would wait for itself. It then fails
/// with an error that says so, or, if it was sent from another queue, when its timeout has passed.
public final class AuthenticationMiddleware: Middleware {
    private let credentials: CredentialStore
    private let hosts: Set<String>?
    private let apply: @Sendable (String, inout URLRequest) -> Void
    private let scheduler: any Scheduler

    /// Creates a middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The credential to begin with. Without one, `refresh` is asked before the first request is sent.
    ///   - hosts: The hosts that the credential is for: `["api.example.com"]`. By default it is for the scheme, host and port of the
    ///     provider's base URL. A provider without a base URL needs them.
    ///   - apply: Puts a token into a request: by default as a bearer token (RFC 6750, section 2.1). The headers that it sets are secrets,
    ///     whatever their names: see ``Redaction``. Called for each request that is sent, on any thread.
    ///   - refresh: Makes the single of a new token. It gets the token that was refused, or `nil` if there was none. Called once at a time,
    ///     on any thread.
    public convenience init(
        token: String? = nil, hosts: Set<String>? = nil,
        apply: @escaping @Sendable (_ token: String, inout URLRequest) -> Void = {
            $1.setValue("Bearer \($0)", forHTTPHeaderField: "Authorization")
        },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        self.init(token: token, hosts: hosts, scheduler: ConcurrentDispatchQueueScheduler(qos: .default), apply: apply, refresh: refresh)
    }

    /// The same, with a scheduler for the timeouts of requests that wait.
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

    /// The token as it is now. Set it at sign-in, and to `nil` at sign-out, also before another user signs in.
    ///
    /// Setting it drops a refresh that is under way: what the refresh brings is not used. Requests that wait for it go on with the new token.
    /// At sign-out they fail, and requests in flight are not sent again: nothing goes out in another user's name.
    public var token: String? {
        get { credentials.token }
        set { credentials.token = newValue }
    }

    /// Returns the response to `request` with the credential, or to the second try with a new one.
    public func intercept(
        _ request: URLRequest, options: RequestOptions, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        do {
            guard options.isAuthenticated, try isMeant(for: request, options.baseURL) else { return next(request) }
        } catch {
            return .error(error)
        }
        return credential(for: request).flatMap { [self] credential in
            let authorized = try applying(credential, to: request)
            return next(authorized).flatMap { [self] response in
                guard response.statusCode == 401, !response.hasLost(what: authorized, hasMoreThan: request) else { return .just(response) }
                guard credentials.expire(credential), request.canBeSentAgain else { return .just(response) }
                return self.credential(of: credential.user, for: request).flatMap { next(try self.applying($0, to: request)) }
            }
        }
    }

    private func isMeant(for request: URLRequest, _ baseURL: URL?) throws -> Bool {
        guard let url = request.url else { return false }
        guard let hosts else {
            guard let baseURL else {
                throw APIError.invalidRequest(
                    reason: "nobody says which hosts its token is for; give AuthenticationMiddleware its hosts:, or the provider a baseURL:"
                )
            }
            return url.origin == baseURL.origin
        }
        if let entry = hosts.first(where: { $0.contains("/") || $0.contains(":") && !$0.contains("[") }) {
            throw APIError.invalidRequest(
                reason: "\"\(entry)\" in the hosts of AuthenticationMiddleware is no host; write it as \"api.example.com\"")
        }
        return hosts.contains(url.host?.lowercased() ?? "")
            && (url.origin.hasPrefix("https:") || baseURL?.origin.hasPrefix("http:") == true)
    }

    private func credential(of user: Int? = nil, for request: URLRequest) -> Single<Credential> {
        let timeout = DispatchTimeInterval.nanoseconds(Int(max(0, min(request.timeoutInterval, 1e6)) * 1e9))
        return credentials.valid(of: user, within: timeout, on: scheduler).mapError { error in
            guard error is RxError else { return error }
            let reason = "it timed out while it waited for a new token; is the refresh itself sent through this provider?"
            return APIError.transport(request, underlying: URLError(.timedOut, userInfo: [URLError.reasonKey: reason]))
        }
    }

    private func applying(_ credential: Credential, to request: URLRequest) throws -> URLRequest {
        guard credential.token.isFieldValue else {
            // Linux leaves out a header with such a value, and says nothing.
            throw APIError.invalidRequest(reason: "its token has a line break, which may be that of the file it was read from, or a NUL")
        }
        var authorized = request
        apply(credential.token, &authorized)
        KnownSecrets.addHeaders(of: authorized, notIn: request)
        return authorized
    }
}

extension AuthenticationMiddleware: CustomStringConvertible, CustomReflectable {
    /// The type alone: the token is left out.
    public var description: String { "AuthenticationMiddleware" }

    /// Shows nothing, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension APIResponse {
    /// Whether a redirect to another origin has left a credential behind: then a 401 refuses no token.
    fileprivate func hasLost(what authorized: URLRequest, hasMoreThan plain: URLRequest) -> Bool {
        authorized.url?.origin != request.url?.origin
            || authorized.headers(notIn: plain).contains { request.value(forHTTPHeaderField: $0.key) == nil }
    }
}
