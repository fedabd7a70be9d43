public import Dispatch
public import Foundation

extension Single {
    /// Delivers the value `dueTime` later, on `scheduler`. An error is not delayed.
    ///
    /// ![The value arrives after one second, and is delivered after three.](delay)
    public func delay(_ dueTime: DispatchTimeInterval, scheduler: any Scheduler) -> Single {
        flatMap { element in Single<Void>.timer(dueTime, scheduler).map { element } }
    }

    /// Fails with ``RxError/timeout`` on `scheduler`, and disposes the source, if no event arrives within `dueTime` of the subscription.
    ///
    /// ![The source is disposed after two seconds, and the error is delivered.](timeout)
    public func timeout(_ dueTime: DispatchTimeInterval, scheduler: any Scheduler) -> Single {
        timeout(dueTime, scheduler, error: RxError.timeout)
    }

    package func timeout(_ dueTime: DispatchTimeInterval, _ scheduler: any Scheduler, error: any Error) -> Single {
        ChildGroup.single { group in
            group.children.add(Single<Void>.timer(dueTime, scheduler)) { _ in group.emit(.failure(error)) }
            group.children.add(self) { group.emit($0) }
        }
    }
}

extension Single where Element == Void {
    /// A single that succeeds on `scheduler`, `dueTime` after the subscription.
    package static func timer(_ dueTime: DispatchTimeInterval, _ scheduler: any Scheduler) -> Single {
        create { observer in scheduler.schedule(after: dueTime) { observer(.success(())) } }
    }
}

/// An error of an operator.
public enum RxError: Error {
    /// No event arrived in time.
    case timeout
}

extension RxError: LocalizedError, CustomStringConvertible {
    /// A sentence for the developer.
    public var description: String { "No event arrived in time." }

    /// An English sentence for the app's users, also the `localizedDescription`.
    public var errorDescription: String? { "It took too long." }
}
