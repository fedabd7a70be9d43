public import Dispatch

/// Runs work on a queue or an actor, now or later.
public protocol Scheduler: Sendable {
    /// The current time of the scheduler.
    var now: DispatchTime { get }

    /// Runs `action` once, after `delay`. To cancel the action, dispose the result. The action is then released.
    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable
}

extension DispatchTimeInterval {
    @usableFromInline static var zero: DispatchTimeInterval { .nanoseconds(0) }
}

extension DispatchQueue {
    /// Runs `action` after `delay`, unless it has been disposed.
    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        let item = ScheduledItem(action)
        guard delay != .zero else {
            async(execute: item.run)
            return item
        }
        // `asyncAfter` would keep its timer until the deadline, also for an action that has been disposed long before.
        let timer = Timer(source: DispatchSource.makeTimerSource(queue: self))
        timer.source.setEventHandler {
            timer.source.cancel()
            item.run()
        }
        timer.source.schedule(deadline: .now() + delay)
        timer.source.activate()
        return Disposables.create {
            timer.source.cancel()
            item.dispose()
        }
    }
}

/// Dispatch lets its objects be used from any thread, but not everywhere says so.
private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
}

/// An action that runs at most once, and not after it has been disposed: in both cases it is let go.
struct ScheduledItem: Disposable {
    private let action: Locked<Action?>

    init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(Action(action)) }

    func run() { action.withLock { $0.take() }?() }

    func dispose() { _ = action.withLock { $0.take() } }
}
