public import Dispatch

extension Single {
    /// Subscribes to the source on `scheduler`.
    public func subscribe(on scheduler: some Scheduler) -> Single {
        Single<Void>.timer(.zero, scheduler).flatMap { self }
    }

    /// Delivers the value `dueTime` later, on `scheduler`. An error is not delayed.
    public func delay(_ dueTime: DispatchTimeInterval, scheduler: some Scheduler) -> Single {
        flatMap { element in Single<Void>.timer(dueTime, scheduler).map { element } }
    }

    /// Fails with ``RxError/timeout`` on `scheduler`, and disposes the source, when no event has come within `dueTime` of the subscription.
    public func timeout(_ dueTime: DispatchTimeInterval, scheduler: some Scheduler) -> Single {
        Single { subscription, observer in
            let parts = Parts(of: subscription, values: (), observer)
            parts?.start(self) { $0.finish($1) }
            parts?.start(Single<Void>.timer(dueTime, scheduler)) { parts, _ in parts.finish(.failure(RxError.timeout)) }
        }
    }
}

extension Single where Element == Void {
    /// A single that succeeds on `scheduler`, `dueTime` after the subscription.
    static func timer(_ dueTime: DispatchTimeInterval, _ scheduler: some Scheduler) -> Single {
        create { observer in scheduler.schedule(after: dueTime) { observer(.success(())) } }
    }
}
