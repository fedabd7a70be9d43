package import Dispatch

extension DispatchTimeInterval {
    static var zero: DispatchTimeInterval { .nanoseconds(0) }

    /// The interval in nanoseconds: 0 for a negative interval, and `UInt64.max` for `.never` or a longer interval than fits.
    package var nanoseconds: UInt64 {
        let (count, unit): (Int, UInt64)
        switch self {
        case .seconds(let value): (count, unit) = (value, 1_000_000_000)
        case .milliseconds(let value): (count, unit) = (value, 1_000_000)
        case .microseconds(let value): (count, unit) = (value, 1_000)
        case .nanoseconds(let value): (count, unit) = (value, 1)
        default: return .max
        }
        let product = UInt64(max(0, count)).multipliedReportingOverflow(by: unit)
        return product.overflow ? .max : product.partialValue
    }

    /// The interval in seconds; infinity for `.never`.
    package var seconds: Double { nanoseconds == .max ? .infinity : Double(nanoseconds) / 1e9 }

    /// Creates an interval of whole milliseconds, rounded up so that a wait is never too short. Negative values and NaN become 0. The
    /// result is at most 24 days.
    ///
    /// Some Apple Watches have a 32-bit `Int`: enough for 24 days in milliseconds, but only two seconds in nanoseconds. So use this
    /// initializer for each computed wait.
    package init(seconds: Double) {
        // A product may be a little too large: 2.007 * 1000 is more than 2007.
        self = .milliseconds(seconds > 0 ? Int(min((seconds * 1000 - 1e-6).rounded(.up), Double(Int32.max))) : 0)
    }
}
