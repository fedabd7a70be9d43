import Foundation
public import MiniRx

/// Limits the number of requests that run at the same time. Others wait for their turn, first come, first served.
///
/// ```swift
/// DefaultAPIProvider(
///     baseURL: api, middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 4)])
/// ```
///
/// A request counts until its response arrives, or until it fails or is disposed. A stream counts until its head arrives.
///
/// It stands after an ``AuthenticationMiddleware`` in the list, so that a request that waits for a refresh holds no place. With the two in the
/// other order, each request fails with an error that says so.
///
/// ``Endpoint/timeoutInterval`` starts when the request is sent. ``Endpoint/timeout(_:)`` also counts the wait.
public struct ConcurrencyLimitMiddleware: Middleware {
    private let maxConcurrent: Int
    private let limiter: RequestLimiter

    /// Creates a middleware.
    ///
    /// - Parameter maxConcurrent: The number of requests that may run at the same time. With a number below 1, each request fails with an
    ///   error that says so.
    public init(maxConcurrent: Int) {
        self.maxConcurrent = maxConcurrent
        limiter = RequestLimiter(limit: maxConcurrent)
    }

    /// Passes `request` to `next` when it is its turn.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard maxConcurrent > 0 else {
            return .error(
                APIError.invalidRequest(
                    reason: "maxConcurrent of its ConcurrencyLimitMiddleware is \(maxConcurrent); it must be at least 1"))
        }
        var request = request
        request.options[HoldsPlaceKey.self] = true
        return limiter.running { [request] in
            next(request).map { response in
                // A middleware may make another request of the one that the response names. That one holds no place.
                var response = response
                response.request.options[HoldsPlaceKey.self] = false
                return response
            }
        }
    }
}

private enum HoldsPlaceKey: BuiltInOptionKey { static var defaultValue: Bool { false } }

extension PreparedRequest {
    /// Throws if it holds a place of a ``ConcurrencyLimitMiddleware``: a refresh that it waited for might never get one.
    func checkItHoldsNoPlace() throws {
        guard options[HoldsPlaceKey.self] else { return }
        throw APIError.invalidRequest(reason: "its ConcurrencyLimitMiddleware stands before its AuthenticationMiddleware; swap the two")
    }
}
