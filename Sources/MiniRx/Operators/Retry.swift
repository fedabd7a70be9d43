public import Dispatch

extension Single {
    /// Subscribes again after each failure, until a value comes or the subscription is disposed.
    @inlinable
    public func retry() -> Single {
        self.catch { _ in retry() }
    }

    /// Subscribes at most `maxAttemptCount` times in all, and fails with the last error.
    ///
    /// - Precondition: `maxAttemptCount` is at least 1: `retry(1)` is the single as it is.
    @inlinable
    public func retry(_ maxAttemptCount: Int) -> Single {
        guard maxAttemptCount > 0 else {
            // A programmer's error. A precondition would say nothing in a release build.
            fatalError(
                "retry(\(maxAttemptCount)) would never subscribe. The count is of attempts: write retry(1) for one, retry() for no limit.")
        }
        guard maxAttemptCount > 1 else { return self }
        return self.catch { _ in retry(maxAttemptCount - 1) }
    }

    /// Subscribes again after each failure, when `delay` has passed on `scheduler`; with a `delay` of `nil`, fails with the error.
    ///
    /// ```swift
    /// single.retry(scheduler: scheduler) { failures, _ in failures < 3 ? .seconds(failures) : nil }
    /// ```
    ///
    /// - Parameters:
    ///   - scheduler: Where to wait and to subscribe again.
    ///   - delay: Gets the count of failures so far, from 1, and the latest error.
    @preconcurrency @inlinable
    public func retry(
        scheduler: any Scheduler, when delay: @escaping @Sendable (_ failures: Int, any Error) -> DispatchTimeInterval?
    ) -> Single {
        retry(failures: 1, scheduler, delay)
    }

    @inlinable
    func retry(
        failures: Int, _ scheduler: any Scheduler, _ delay: @escaping @Sendable (Int, any Error) -> DispatchTimeInterval?
    ) -> Single {
        self.catch { error in
            guard let interval = delay(failures, error) else { throw error }
            return Single<Void>.timer(interval, scheduler).flatMap { retry(failures: failures + 1, scheduler, delay) }
        }
    }
}
