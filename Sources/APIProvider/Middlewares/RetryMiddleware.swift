public import Dispatch
package import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a request again after a temporary failure.
///
/// Temporary failures are the statuses 408, 429, 500, 502, 503 and 504, a timeout, a lost or missing connection, and an invalid HTTP
/// response. A request is then sent again if the method is idempotent (RFC 9110, section 9.2.2), if there is a header `Idempotency-Key`, or
/// if the request cannot have reached the server.
///
/// Between attempts, the middleware waits for a random time: at most `baseDelay`, then twice that, four times that, and so on up to
/// `maxDelay`. After a `Retry-After` (RFC 9110, section 10.2.3), the wait is at least as long as the server asks.
///
/// The caller gets the last attempt's response or error. Disposing ends a wait. An endpoint's option ``RequestOptions/retryPolicy``
/// replaces the policy.
///
/// Put the retry before an ``AuthenticationMiddleware``, and before a ``LoggingMiddleware`` for each attempt. The exceptions are in
/// <doc:BadNetworks>.
public struct RetryMiddleware: Middleware {
    private let policy: RetryPolicy
    private let scheduler: any Scheduler
    private let random: @Sendable () -> Double
    private let now: @Sendable () -> Date

    /// Creates a middleware that follows `policy`.
    ///
    /// - Parameters:
    ///   - policy: The rules: which requests are sent again, how often, and after what delay.
    ///   - scheduler: Schedules the waits. In tests, use a `TestScheduler`.
    public init(
        _ policy: RetryPolicy = RetryPolicy(), scheduler: some Scheduler = ConcurrentDispatchQueueScheduler(qos: .utility)
    ) {
        self.init(policy, scheduler: scheduler, random: { .random(in: 0...1) })
    }

    /// Creates a middleware with a clock, and with a source of random numbers from 0 to 1.
    package init(
        _ policy: RetryPolicy = RetryPolicy(), scheduler: some Scheduler,
        random: @escaping @Sendable () -> Double, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.policy, self.scheduler, self.random, self.now) = (policy, scheduler, random, now)
    }

    // MARK: - Attempts

    /// Passes `request` to `next`, and again after a temporary failure. Returns the last attempt's response.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        let policy = request.options.retryPolicy ?? policy
        guard policy.maxAttempts > 1 else { return next(request) }
        return attempt(1, request, policy, next)
    }

    private func attempt(_ number: Int, _ request: PreparedRequest, _ policy: RetryPolicy, _ next: @escaping Next) -> Single<APIResponse> {
        Single.deferred { next(request) }
            .map { Result.success($0) }
            .catch { .just(.failure($0)) }
            .flatMap { result in
                guard number < policy.maxAttempts, try policy.shouldSendAgain(request, after: result),
                    let delay = delay(after: number, result, policy)
                else { return .just(try result.get()) }
                return Single<Void>.timer(delay, scheduler).flatMap { attempt(number + 1, request, policy, next) }
            }
    }

    private func delay(after failures: Int, _ result: Result<APIResponse, any Error>, _ policy: RetryPolicy) -> DispatchTimeInterval? {
        let asked = max((try? result.get())?.retryAfter(now: now()) ?? 0, 0)
        return asked <= max(policy.maxDelay.seconds, 0) ? policy.delay(after: failures, atLeast: asked, random: random()) : nil
    }
}

// MARK: - Temporary failures

extension RetryPolicy {
    /// Whether to send `request` again after `result`.
    fileprivate func shouldSendAgain(_ request: PreparedRequest, after result: Result<APIResponse, any Error>) throws -> Bool {
        let isIdempotent = request.isIdempotent(methods) && result.sentRequest?.isIdempotent(methods) ?? true
        guard isIdempotent || result.redirectedRequest == nil else { return false }
        if let decision = try shouldRetry?(request, result) { return decision }
        switch result {
        case .success(let response): return isIdempotent && statuses.contains(response.statusCode)
        case .failure(let error):
            let error = error as? APIError ?? .transport(request, underlying: error)
            return isIdempotent ? error.isTransient : error.requestWasNotSent
        }
    }
}

extension Result<APIResponse, any Error> {
    /// The request sent last, maybe a redirected one, or a refresh.
    fileprivate var sentRequest: PreparedRequest? {
        switch self {
        case .success(let response): response.request
        case .failure(APIError.transport(let request, _)): request
        case .failure(let error): (error as? APIError)?.response?.request
        }
    }

    /// The last request in a chain of redirects, if any.
    var redirectedRequest: PreparedRequest? { sentRequest?.redirects.isEmpty == false ? sentRequest : nil }
}
