import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How long a request may be silent, and how long it may take as a whole, in nanoseconds.
struct TimeLimits {
    private(set) var silence: UInt64
    let whole: UInt64

    /// - Parameters:
    ///   - silence: In seconds; what is no time is a minute.
    ///   - whole: In seconds; what is no time is seven days.
    init(silence: TimeInterval, whole: TimeInterval) {
        self.silence = silence.nanoseconds ?? 60_000_000_000
        self.whole = whole.nanoseconds ?? 604_800_000_000_000
    }

    /// The limits of a request that may have its own.
    func of(_ request: URLRequest) -> TimeLimits {
        // A request that sets none has 60 s.
        guard request.timeoutInterval != 60, let silence = request.timeoutInterval.nanoseconds else { return self }
        var limits = self
        limits.silence = silence
        return limits
    }
}

extension TimeInterval {
    /// `nil` unless there is time to wait; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
