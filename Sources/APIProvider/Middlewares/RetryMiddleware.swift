public import Dispatch
public import MiniRx

#if canImport(FoundationNetworking)
package import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends a request again when its failure is one that passes.
///
/// These are the statuses 408, 429, 500, 502, 503 and 504, and a connection that timed out, was lost or could not be made. Only idempotent
/// methods are sent again (RFC 9110, section 9.2.2), and no body that is a stream. What the last attempt ends in, response or error, is what
/// the caller gets. Disposing while it waits ends it.
///
/// Between attempts it waits for a random time of up to `baseDelay`, then twice and four times that, and so on up to `maxDelay`: so clients
/// that failed together do not come back together. A `Retry-After` (RFC 9110, section 10.2.3), in seconds or as a date, takes the place of
/// that time; one that is longer than `maxDelay` is cut to it. A date is measured from the response's own `Date`, so that a wrong clock here
/// does no harm.
///
/// Put it before an ``AuthenticationMiddleware``, and before a ``LoggingMiddleware`` that is to see each attempt.
public struct RetryMiddleware: Middleware {
    private let maxAttempts: Int
    private let backoff: Backoff
    private let scheduler: any Scheduler
    private let now: @Sendable () -> Date

    /// A middleware that makes at most `maxAttempts` attempts.
    ///
    /// - Parameters:
    ///   - maxAttempts: How many attempts there are in all.
    ///   - baseDelay: The longest wait before the second attempt.
    ///   - maxDelay: The longest wait before any.
    ///   - scheduler: Where to wait and to send again: a `TestScheduler` in tests.
    /// - Precondition: `maxAttempts` is at least 1, which sends once and never again.
    public init(
        maxAttempts: Int = 3, baseDelay: DispatchTimeInterval = .milliseconds(500), maxDelay: DispatchTimeInterval = .seconds(30),
        scheduler: some Scheduler = ConcurrentDispatchQueueScheduler(qos: .utility)
    ) {
        self.init(
            maxAttempts: maxAttempts, baseDelay: baseDelay, maxDelay: maxDelay, scheduler: scheduler, random: { .random(in: 0...1) },
            now: { Date() })
    }

    /// The same with a source of chance, which gives numbers from 0 to 1, and a clock.
    package init(
        maxAttempts: Int = 3, baseDelay: DispatchTimeInterval = .milliseconds(500), maxDelay: DispatchTimeInterval = .seconds(30),
        scheduler: some Scheduler, random: @escaping @Sendable () -> Double, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        guard maxAttempts > 0 else {
            // A programmer's error. A precondition would say nothing in a release build.
            fatalError(
                "RetryMiddleware(maxAttempts: \(maxAttempts)) would never send. The count is of attempts: 1 sends once and never again.")
        }
        self.maxAttempts = maxAttempts
        backoff = Backoff(base: baseDelay.seconds, maximum: maxDelay.seconds, random: random)
        self.scheduler = scheduler
        self.now = now
    }

    /// The response to `request`, or to the last attempt at it.
    public func intercept(_ request: URLRequest, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>) -> Single<APIResponse> {
        guard Self.idempotentMethods.contains(request.httpMethod ?? "GET"), request.canBeSentAgain else { return next(request) }
        return Single.deferred { next(request) }
            .map { response in
                guard !Self.transientStatuses.contains(response.statusCode) else { throw Refusal(response: response) }
                return response
            }
            .retry(scheduler: scheduler) { failures, error in failures < maxAttempts ? delay(after: error, failures) : nil }
            .catch { error in
                guard let refusal = error as? Refusal else { throw error }
                return .just(refusal.response)
            }
    }

    private func delay(after error: any Error, _ failures: Int) -> DispatchTimeInterval? {
        guard let refusal = error as? Refusal else { return error.isTransient ? backoff.delay(after: failures) : nil }
        return backoff.delay(after: failures, told: refusal.response.retryAfter(now: now()))
    }

    /// RFC 9110, section 9.2.2.
    private static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    private static let transientStatuses: Set = [408, 429, 500, 502, 503, 504]
}

/// A response that is to be tried again, on its way through the operators for errors.
private struct Refusal: Error {
    let response: APIResponse
}

extension Error {
    /// Whether a second try may go well. A certificate, a URL or a response that is too large stays what it is.
    fileprivate var isTransient: Bool {
        switch (self as? APIError)?.urlError?.code ?? (self as? URLError)?.code {
        case .timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
            .badServerResponse:
            true
        default: false
        }
    }
}

extension APIResponse {
    /// How many seconds the server asks to wait, which may be less than none.
    fileprivate func retryAfter(now: Date) -> Double? {
        guard let text = value(forHTTPHeaderField: "Retry-After")?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        // As Double, any number of digits is a number.
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) { return Double(text) }
        let sent = value(forHTTPHeaderField: "Date").flatMap { Date(httpDate: $0, now: now) } ?? now
        return Date(httpDate: text, now: now)?.timeIntervalSince(sent)
    }
}
