import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends one request for all equal requests that run at the same time.
///
/// ```swift
/// DefaultAPIProvider(
///     baseURL: api,
///     middlewares: [RetryMiddleware(), authentication, CoalescingMiddleware()])
/// ```
///
/// ### Equal requests
///
/// Requests are equal if they are `GET` or `HEAD`, have the same URL, headers, timeout and ``PreparedRequest/urlRequest`` settings, and
/// treat cookies, credentials and redirects alike. Put this middleware last, after the middlewares that add headers. Then users with
/// different credentials never share a response. Downloads, streams, and requests with a body, with a ``RequestOptions/redirectPolicy``
/// other than ``RedirectPolicy/follow`` or with your own option are not shared.
///
/// ### Their response
///
/// Each of the equal requests gets the response or the error. If one is disposed, the others go on. When the last is disposed, the sent
/// request is cancelled. Only the first reports progress, and the response's ``APIResponse/request`` is the first one.
public final class CoalescingMiddleware: Middleware {
    private struct Key: Hashable {
        let method: HTTPMethod
        let url: URL
        let headers: HTTPHeaders
        let timeout: TimeInterval?
        let handlesCookies: Bool
        /// The other settings of the `URLRequest`, such as `allowsCellularAccess`.
        let foundationRequest: URLRequest?
        let followsRedirects: Bool
        /// Whether ``AuthenticationMiddleware`` may add a credential.
        let isAuthenticated: Bool
        /// The request's user: requests before and after a sign-out are never shared. `nil` without a credential.
        let signOutCount: Int?
    }

    private struct State {
        /// The requests by key, each with the current run's number.
        var running: [Key: (run: Int, response: Single<APIResponse>)] = [:]
        var lastRun = 0
    }

    private let state = Locked(State())

    /// Creates a middleware. Two middlewares share no requests.
    public init() {}

    /// Returns the response to an equal running request, or else passes `request` to `next`.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.destination == .memory, request.options.redirectPolicy.hasSameKind(as: .follow), request.isPlainRead,
            request.options.areBuiltIn
        else {
            return next(request)
        }
        let key = Key(
            method: request.method, url: request.url, headers: request.headers, timeout: request.timeoutInterval,
            handlesCookies: request.handlesCookies, foundationRequest: request.foundationRequest,
            followsRedirects: request.followsRedirects, isAuthenticated: request.options.isAuthenticated,
            signOutCount: request.options.isAuthenticated ? request.signOutCount : nil)
        return .create { [state] observer in
            let response = state.withLock { shared in
                if let other = shared.running[key] { return other.response }
                // A request that comes while a run ends begins another run, and the entry is then that run's.
                let own = Single.deferred { [state] in
                    let run = state.withLock { shared in
                        shared.lastRun += 1
                        shared.running[key]?.run = shared.lastRun
                        return shared.lastRun
                    }
                    return next(request).do(onDispose: {
                        _ = state.withLock { $0.running[key]?.run == run ? $0.running.removeValue(forKey: key) : nil }
                    })
                }.share()
                shared.running[key] = (0, own)
                return own
            }
            // The entry is made before this subscription begins, and `onDispose` comes after, so the entry is always removed.
            return response.subscribe(observer)
        }
    }
}
