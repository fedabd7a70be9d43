import Foundation
import MiniRx

/// Limits how many retries there are for each request, so that many clients do not make an outage worse.
///
/// ```swift
/// RetryMiddleware(.default, budget: RetryBudget(ratio: 0.1))
/// ```
///
/// Each request adds `ratio` to the budget, and each retry takes 1 from it. When less than 1 is left, the response or the error is the
/// answer. Providers may share a budget.
public final class RetryBudget: Sendable {
    private let ratio: Double
    private let reserve: Int
    private let balance: Locked<Double>

    /// Creates a budget.
    ///
    /// With a ratio or a reserve below 0, each request fails with an error that says so.
    ///
    /// - Parameters:
    ///   - ratio: The number of retries for each request: with 0.1, a tenth of them may be sent again.
    ///   - reserve: The number of retries that are there at the start, so that a quiet client may retry, too. No more than that is saved.
    public init(ratio: Double = 0.1, reserve: Int = 10) {
        (self.ratio, self.reserve, balance) = (ratio, reserve, Locked(Double(reserve)))
    }

    /// Adds what a request adds. Throws if the numbers make no sense.
    func add() throws {
        guard ratio >= 0, ratio.isFinite, reserve >= 0 else {
            throw APIError.invalid(
                "its RetryBudget has a ratio of \(ratio) and a reserve of \(reserve); both must be 0 or more")
        }
        balance.withLock { $0 = min($0 + ratio, Double(max(reserve, 1))) }
    }

    /// Takes one retry, if there is one.
    func take() -> Bool {
        balance.withLock { balance in
            // Ten tenths are a little less than 1.
            guard balance >= 1 - 1e-9 else { return false }
            balance -= 1
            return true
        }
    }
}

extension RetryBudget: CustomStringConvertible {
    /// The numbers, and what is left.
    public var description: String { "RetryBudget(ratio: \(ratio), reserve: \(reserve), left: \(balance.withLock { $0 }))" }
}
