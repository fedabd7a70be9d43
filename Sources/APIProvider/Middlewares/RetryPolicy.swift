public import Dispatch
import Foundation

/// The rules of ``RetryMiddleware``: which requests are sent again, how often, and after what delay.
///
/// ```swift
/// RetryMiddleware(RetryPolicy(maxAttempts: 5))
/// Endpoint<Receipt>(.post, "/orders", body: .json(order))
///     .option(\.retryPolicy, .never)
/// ```
public struct RetryPolicy: Sendable {
    /// The number of attempts, including the first. A number below 1 means 1, and `Int.max` is no limit.
    public var maxAttempts: Int
    /// The longest wait before the second attempt, doubled for each later attempt.
    public var baseDelay: DispatchTimeInterval
    /// The longest backoff before any attempt. After a `Retry-After`, the wait may be up to ``baseDelay`` longer.
    ///
    /// Requests with a longer `Retry-After` are not retried: retrying early may extend a rate limit. With ``reconnecting``, events wait as
    /// long as asked.
    public var maxDelay: DispatchTimeInterval
    /// The statuses to retry.
    public var statuses: Set<Int>
    /// The methods to retry even if the server may have acted.
    public var methods: Set<HTTPMethod>
    /// Decides before ``statuses`` and ``methods`` whether to retry after a response or an error. `nil` leaves the decision to them.
    ///
    /// ```swift
    /// var policy = RetryPolicy()
    /// policy.shouldRetry = { request, result in
    ///     // The lock will be free soon.
    ///     (try? result.get())?.statusCode == 423 ? true : nil
    /// }
    /// ```
    ///
    /// Return `true` only for a request that the server may get twice. The policy still limits attempts and delays. If the closure throws,
    /// the request fails with that error. Called on any thread, but for a redirected request only if each request in the chain is
    /// idempotent.
    public var shouldRetry: (@Sendable (_ request: PreparedRequest, _ result: Result<APIResponse, any Error>) throws -> Bool?)?

    /// Creates a policy, by default with three attempts for the idempotent methods (RFC 9110, section 9.2.2).
    ///
    /// - Parameters:
    ///   - maxAttempts: The number of attempts, including the first.
    ///   - baseDelay: The longest wait before the second attempt, doubled for each later attempt.
    ///   - maxDelay: The longest backoff before any attempt.
    ///   - statuses: The statuses to retry.
    ///   - methods: The methods to retry even if the server may have acted.
    ///   - shouldRetry: Decides before `statuses` and `methods`: see ``shouldRetry``.
    public init(
        maxAttempts: Int = 3, baseDelay: DispatchTimeInterval = .milliseconds(500), maxDelay: DispatchTimeInterval = .seconds(30),
        statuses: Set<Int> = [408, 429, 500, 502, 503, 504],
        methods: Set<HTTPMethod> = [.get, .head, .options, "TRACE", .put, .delete],
        shouldRetry: (@Sendable (_ request: PreparedRequest, _ result: Result<APIResponse, any Error>) throws -> Bool?)? = nil
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.statuses = statuses
        self.methods = methods
        self.shouldRetry = shouldRetry
    }

    /// Any number of attempts: the policy of ``APIProvider/APIProvider/events(_:reconnecting:scheduler:)``.
    public static let reconnecting = RetryPolicy(maxAttempts: .max)
    /// One attempt.
    public static let never = RetryPolicy(maxAttempts: 1)
}

// MARK: - Waits

extension RetryPolicy {
    /// The time to wait after `failures` failures in a row: exponential backoff with full jitter, for a `random` number from 0 to 1.
    ///
    /// If the server asks for a wait of `seconds`, up to `baseDelay` is added, so that clients with the same wait do not return together.
    func delay(after failures: Int, atLeast seconds: Double = 0, random: Double) -> DispatchTimeInterval {
        DispatchTimeInterval(seconds: max(backoff(after: failures, random), seconds + backoff(after: 1, random)))
    }

    private func backoff(after failures: Int, _ random: Double) -> Double {
        // 2^1000 is finite, so a base delay of 0 stays 0. Infinity times 0 would not be a number.
        random * min(maxDelay.seconds, baseDelay.seconds * pow(2, Double(min(failures - 1, 1000))))
    }
}

// MARK: - The option

extension RequestOptions {
    /// The policy for this request, in place of ``RetryMiddleware``'s. With ``RetryPolicy/never``, the request is sent once.
    public var retryPolicy: RetryPolicy? {
        get { self[RetryKey.self] }
        set { self[RetryKey.self] = newValue }
    }
}

private enum RetryKey: BuiltInOptionKey { static var defaultValue: RetryPolicy? { nil } }
