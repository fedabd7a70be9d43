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
}
