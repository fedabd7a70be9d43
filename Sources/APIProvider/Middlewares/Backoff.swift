import Dispatch
import Foundation

extension RetryPolicy {
    /// The time to wait after `failures` failures in a row: exponential backoff with full jitter, for a `random` number from 0 to 1.
    func delay(after failures: Int, random: Double) -> DispatchTimeInterval {
        // 2^1000 is finite, so a base delay of 0 stays 0. Infinity times 0 would not be a number.
        .wholeMilliseconds(random * min(maxDelay.seconds, baseDelay.seconds * pow(2, Double(min(failures - 1, 1000)))))
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

    /// `seconds` in milliseconds, rounded up so that a wait is never too short. Less than 0 and NaN are 0. The most are 24 days, which fit an
    /// `Int` of 32 bits.
    static func wholeMilliseconds(_ seconds: Double) -> DispatchTimeInterval {
        .milliseconds(seconds > 0 ? Int(min((seconds * 1000).rounded(.up), Double(Int32.max))) : 0)
    }
}
