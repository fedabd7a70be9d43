package import Dispatch
import MiniRx

extension DispatchTimeInterval {
    /// Infinity if it is `never`.
    var seconds: Double { nanoseconds == .max ? .infinity : Double(nanoseconds) / 1e9 }

    /// `seconds` in milliseconds, rounded up so that a wait is never too short. Less than 0 and NaN are 0. The most are 24 days.
    ///
    /// An Apple Watch may have an `Int` of 32 bits, which holds 24 days of milliseconds, but only two seconds of nanoseconds. So each wait
    /// that is computed comes from here.
    package static func wholeMilliseconds(_ seconds: Double) -> DispatchTimeInterval {
        // A product may be a little more than the decimal number that is meant: 2.007 * 1000 is more than 2007.
        .milliseconds(seconds > 0 ? Int(min((seconds * 1000 - 1e-6).rounded(.up), Double(Int32.max))) : 0)
    }
}
