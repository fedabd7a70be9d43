package import Dispatch

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

    /// `seconds` in milliseconds, rounded up so that a wait is never too short. Less than 0 and NaN are 0. The most are 24 days.
    ///
    /// An Apple Watch may have an `Int` of 32 bits, which holds 24 days of milliseconds, but only two seconds of nanoseconds. So each wait
    /// that is computed comes from here.
    package static func wholeMilliseconds(_ seconds: Double) -> DispatchTimeInterval {
        // A product may be a little more than the decimal number that is meant: 2.007 * 1000 is more than 2007.
        .milliseconds(seconds > 0 ? Int(min((seconds * 1000 - 1e-6).rounded(.up), Double(Int32.max))) : 0)
    }
}
