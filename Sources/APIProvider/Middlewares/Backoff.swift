import Dispatch
import Foundation

/// Exponential backoff with full jitter, in seconds.
struct Backoff {
    private let base: Double
    private let maximum: Double
    private let random: () -> Double

    init(_ policy: RetryPolicy, _ random: @escaping () -> Double) {
        (base, maximum, self.random) = (policy.baseDelay.seconds, policy.maxDelay.seconds, random)
    }

    /// How long to wait after so many failures in a row.
    func delay(after failures: Int) -> DispatchTimeInterval {
        // 2^1000 is a number yet, so that none times it is none.
        .wholeMilliseconds(random() * min(maximum, base * pow(2, Double(min(failures - 1, 1000)))))
    }
}

extension DispatchTimeInterval {
    var seconds: Double {
        switch self {
        case .seconds(let value): Double(value)
        case .milliseconds(let value): Double(value) / 1e3
        case .microseconds(let value): Double(value) / 1e6
        case .nanoseconds(let value): Double(value) / 1e9
        case .never: .infinity
        @unknown default: .infinity
        }
    }

    /// `seconds`, rounded up so that it is never too early: from none, also for what is no number, to the 24 days that an `Int` of 32 bits
    /// takes.
    static func wholeMilliseconds(_ seconds: Double) -> DispatchTimeInterval {
        .milliseconds(seconds > 0 ? Int(min((seconds * 1000).rounded(.up), Double(Int32.max))) : 0)
    }
}
