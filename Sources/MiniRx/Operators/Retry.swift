public import Dispatch

extension Single {
    /// Subscribes again after each failure, until a value arrives or the subscription is disposed.
    @inlinable
    public func retry() -> Single {
        self.catch { _ in retry() }
    }

    /// Subscribes again after a failure, at most `maxAttemptCount` times including the first. Then it fails with the last error.
    ///
    /// ![Two attempts fail, and the third succeeds.](retry)
    ///
    /// - Precondition: `maxAttemptCount` is at least 1. With 1, there is no second attempt.
    @inlinable
    public func retry(_ maxAttemptCount: Int) -> Single {
        guard maxAttemptCount > 0 else {
            // This is a mistake in the program. A precondition would print nothing in a release build.
            fatalError(
                "retry(\(maxAttemptCount)) would never subscribe. The count is of attempts: write retry(1) for one, retry() for no limit.")
        }
        guard maxAttemptCount > 1 else { return self }
        return self.catch { _ in retry(maxAttemptCount - 1) }
    }

    /// Subscribes again after each failure, when the delay has passed on `scheduler`. If the delay is `nil`, it fails with the error.
    ///
    /// ![Two attempts fail. The second starts after one second, the third after two more.](retryWhen)
    ///
    /// ```swift
    /// single.retry(scheduler: scheduler) { failures, _ in
    ///     failures < 3 ? .seconds(failures) : nil
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler on which it waits and subscribes again.
    ///   - delay: Returns the delay. It gets the number of failures so far, which starts at 1, and the latest error.
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
