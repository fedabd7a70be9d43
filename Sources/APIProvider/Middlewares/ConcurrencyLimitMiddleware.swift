import Foundation
public import MiniRx

/// Lets at most some requests run at the same time. Others wait for their turn, first come, first served.
///
/// ```swift
/// DefaultAPIProvider(
///     baseURL: api, middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 4)])
/// ```
///
/// A request frees its place when its response is there, or when it fails or is disposed. A stream frees it when its reading begins. A
/// timeout starts when the request is sent. The refresh of an ``AuthenticationMiddleware`` takes no place: see there.
public struct ConcurrencyLimitMiddleware: Middleware {
    private let maxConcurrent: Int
    private let gate: Gate

    /// Creates a middleware.
    ///
    /// - Parameter maxConcurrent: The number of requests that may run at the same time. With a number below 1, each request fails with an error
    ///   that says so.
    public init(maxConcurrent: Int) {
        self.maxConcurrent = maxConcurrent
        gate = Gate(limit: maxConcurrent)
    }

    /// Returns the response to `request`, which is sent when it is its turn.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard maxConcurrent > 0 else {
            return .error(
                APIError.invalid("maxConcurrent of its ConcurrencyLimitMiddleware is \(maxConcurrent); it must be at least 1"))
        }
        guard request.context?.isPartOfRefresh != true else { return next(request) }
        return .deferred { [gate] in
            let ticket = gate.ticket()
            let turn = Single<Void>.create { observer in
                ticket.enter { observer(.success(())) }
                return Disposables.create()
            }
            return turn.flatMap { next(request) }.do(onDispose: { ticket.leave() })
        }
    }
}
