import Dispatch
import Foundation

extension RetryPolicy {
    /// The time to wait after `failures` failures in a row: exponential backoff with full jitter, for a `random` number from 0 to 1.
    func delay(after failures: Int, random: Double) -> DispatchTimeInterval {
        // 2^1000 is finite, so a base delay of 0 stays 0. Infinity times 0 would not be a number.
        DispatchTimeInterval(seconds: random * min(maxDelay.seconds, baseDelay.seconds * pow(2, Double(min(failures - 1, 1000)))))
    }
}
