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
/// let authentication = AuthenticationMiddleware(token: saved) { _ in
///     login.request(RefreshRequest(refreshToken: keychain.refreshToken)).map(\.accessToken)
/// }
/// let provider = DefaultAPIProvider(middlewares: [authentication])
/// ```
///
/// However many requests are answered 401 at the same time, there is one refresh, and each is sent once more with its token, also those of
/// which the old token is refused later. A request that is then answered 401 again has that for its answer, as has one whose body is a
/// stream, which cannot be sent twice, and one that a redirect has taken to another origin. If the refresh fails, all that wait for it fail with its error, and the next request tries anew.
/// Disposing one request leaves the refresh to the others; the last one cancels it.
///
/// The credential goes to whatever host a request of the provider names: give other hosts a provider of their own. `refresh`, too, needs a
/// provider without this middleware, or it would wait for itself. A redirect to another origin leaves `Authorization` and `Cookie` behind,
/// but not a header of another name that `apply` puts the token into.
public final class AuthenticationMiddleware: Middleware {
    private let state: Locked<State>
    private let apply: @Sendable (String, inout URLRequest) -> Void
    /// Gives a valid credential. It is one for all, so that those who ask while it is under way join it.
    private let renewal: Single<Credential>

    /// A middleware that starts with `token`.
    ///
    /// - Parameters:
    ///   - token: The credential to begin with. Without one, `refresh` is asked before the first request is sent.
    ///   - apply: Puts a token into a request: by default as a bearer token (RFC 6750, section 2.1). Called for each request that is sent, on
    ///     any thread.
    ///   - refresh: Makes the single of a new token; it gets the one that is refused, or `nil` when there has been none. It is called once at
    ///     a time, on any thread.
    public init(
        token: String? = nil,
        apply: @escaping @Sendable (_ token: String, inout URLRequest) -> Void = {
            $1.setValue("Bearer \($0)", forHTTPHeaderField: "Authorization")
        },
        refresh: @escaping @Sendable (_ expired: String?) -> Single<String>
    ) {
        let state = Locked(State(token: token))
        self.state = state
        self.apply = apply
        renewal = Single.deferred {
            let (valid, expired) = state.withLock { ($0.valid, $0.token) }
            // Whoever came a moment too late to join the last renewal finds what it has brought.
            if let valid { return .just(valid) }
            return refresh(expired).map { token in state.withLock { $0.renew(with: token) } }
        }.share()
    }

    /// The response to `request` with the credential, or to the second try with a new one.
    public func intercept(_ request: URLRequest, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>) -> Single<APIResponse> {
        credential.flatMap { [self] credential in
            let authorized = try applying(credential, to: request)
            return next(authorized).flatMap { [self] response in
                guard response.statusCode == 401, !response.hasLost("Authorization", of: authorized) else { return .just(response) }
                state.withLock { $0.expire(credential) }
                guard request.canBeSentAgain else { return .just(response) }
                return self.credential.flatMap { next(try self.applying($0, to: request)) }
            }
        }
    }

    private func applying(_ credential: Credential, to request: URLRequest) throws -> URLRequest {
        guard credential.token.isFieldValue else {
            // Linux leaves out a header with such a value, and says nothing.
            throw APIError.invalidRequest(reason: "its token has a line break, which may be that of the file it was read from, or a NUL")
        }
        var request = request
        apply(credential.token, &request)
        return request
    }

    private var credential: Single<Credential> {
        .deferred { [state, renewal] in state.withLock(\.valid).map { .just($0) } ?? renewal }
    }
}

extension AuthenticationMiddleware: CustomStringConvertible, CustomReflectable {
    /// The type alone: the token is left out.
    public var description: String { "AuthenticationMiddleware" }

    /// Shows nothing, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension APIResponse {
    /// Whether a redirect to another origin has left a header behind: who refuses the request there, refuses no token.
    fileprivate func hasLost(_ header: String, of sent: URLRequest) -> Bool {
        sent.url?.origin != request.url?.origin && sent.value(forHTTPHeaderField: header) != nil
            && request.value(forHTTPHeaderField: header) == nil
    }
}

/// A token, and how many there were before it: a server may give the same one again.
private struct Credential {
    let token: String
    let generation: Int
}

private struct State {
    var token: String?
    private var generation = 0
    private var isExpired = false

    init(token: String?) { self.token = token }

    /// The token, unless it is known to be refused.
    var valid: Credential? { isExpired ? nil : token.map { Credential(token: $0, generation: generation) } }

    mutating func expire(_ credential: Credential) {
        if credential.generation == generation { isExpired = true }
    }

    mutating func renew(with token: String) -> Credential {
        self.token = token
        generation += 1
        isExpired = false
        return Credential(token: token, generation: generation)
    }
}
