import Dispatch
import Foundation

extension RetryPolicy {
    /// The time to wait after `failures` failures in a row: exponential backoff with full jitter, for a `random` number from 0 to 1.
    ///
    /// If the server asks to wait for `seconds`, it waits for that time and up to `baseDelay` more, so that clients that were told the
    /// same do not come back together.
    func delay(after failures: Int, atLeast seconds: Double = 0, random: Double) -> DispatchTimeInterval {
        DispatchTimeInterval(seconds: max(backoff(after: failures, random), seconds + backoff(after: 1, random)))
    }

    private func backoff(after failures: Int, _ random: Double) -> Double {
        // 2^1000 is finite, so a base delay of 0 stays 0. Infinity times 0 would not be a number.
        random * min(maxDelay.seconds, baseDelay.seconds * pow(2, Double(min(failures - 1, 1000))))
    }
}
