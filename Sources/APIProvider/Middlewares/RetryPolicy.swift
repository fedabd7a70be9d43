public import Dispatch

/// Says which requests ``RetryMiddleware`` sends again, how often, and after what time.
///
/// ```swift
/// RetryMiddleware(RetryPolicy(maxAttempts: 5))
/// Endpoint<Receipt>(.post, "/orders", body: .json(order)).option(\.retryPolicy, .never)
/// ```
public struct RetryPolicy: Sendable {
    /// The number of attempts in all. A number below 1 counts as 1.
    public var maxAttempts: Int
    /// The longest wait before the second attempt. It doubles for each attempt after that.
    public var baseDelay: DispatchTimeInterval
    /// The longest wait before any attempt. A `Retry-After` that is longer ends the attempts with its response, because to come earlier than
    /// the server asks makes its limits last longer.
    public var maxDelay: DispatchTimeInterval
    /// The statuses of responses that are tried again.
    public var statuses: Set<Int>
    /// The methods of requests that may be sent again though the server may have acted on them.
    public var methods: Set<HTTPMethod>

    /// Creates a policy. By default it makes three attempts, for the idempotent methods of RFC 9110, section 9.2.2.
    public init(
        maxAttempts: Int = 3, baseDelay: DispatchTimeInterval = .milliseconds(500), maxDelay: DispatchTimeInterval = .seconds(30),
        statuses: Set<Int> = [408, 429, 500, 502, 503, 504],
        methods: Set<HTTPMethod> = [.get, .head, .options, "TRACE", .put, .delete]
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.statuses = statuses
        self.methods = methods
    }

    /// Three attempts for idempotent methods.
    public static let `default` = RetryPolicy()
    /// One attempt.
    public static let never = RetryPolicy(maxAttempts: 1)
}
