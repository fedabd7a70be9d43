import Foundation
public import MiniRx

/// Limits the number of running requests. Others wait for their turn, first come, first served.
///
/// ```swift
/// DefaultAPIProvider(
///     baseURL: api, middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 4)])
/// ```
///
/// A request counts until the response, the failure or the dispose. A stream counts until the head arrives. After a dispose, or a timeout
/// of ``Endpoint/timeout(_:)``, the next request starts on a background queue.
///
/// Put the limit after an ``AuthenticationMiddleware``: a request waiting for a refresh then does not count. In the other order, each
/// request fails with an error about the order.
///
/// ``Endpoint/timeoutInterval`` starts when the request is sent. ``Endpoint/timeout(_:)`` also counts the wait.
public struct ConcurrencyLimitMiddleware: Middleware {
    private let maxConcurrent: Int
    private let limiter: RequestLimiter

    /// Creates a middleware.
    ///
    /// - Parameter maxConcurrent: The largest number of running requests. With a number below 1, each request fails with an error about the
    ///   number.
    public init(maxConcurrent: Int) {
        self.maxConcurrent = maxConcurrent
        limiter = RequestLimiter(limit: maxConcurrent)
    }

    /// Passes `request` to `next` when the limit allows.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard maxConcurrent > 0 else {
            return .error(
                APIError.invalidRequest(
                    reason: "maxConcurrent of its ConcurrencyLimitMiddleware is \(maxConcurrent); it must be at least 1"))
        }
        var request = request
        request.options[HoldsPermitKey.self] = true
        return limiter.running { [request] in
            next(request).map { response in
                // A middleware may create another request from the response's. That one holds no permit.
                var response = response
                response.request.options[HoldsPermitKey.self] = false
                return response
            }
        }
    }
}

private enum HoldsPermitKey: BuiltInOptionKey { static var defaultValue: Bool { false } }

extension PreparedRequest {
    /// Throws if the request holds a permit of a ``ConcurrencyLimitMiddleware``: the awaited refresh might never get one.
    func checkHoldsNoPermit() throws {
        guard options[HoldsPermitKey.self] else { return }
        throw APIError.invalidRequest(reason: "its ConcurrencyLimitMiddleware stands before its AuthenticationMiddleware; swap the two")
    }
}
