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
        // `asyncAfter` would keep its timer until the deadline, even if the action is disposed long before.
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

/// A timer. Dispatch lets you use its objects on any thread, but does not declare all of them Sendable.
private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
}

/// An action that runs at most once, and never after it is disposed. In both cases it is released.
struct ScheduledItem: Disposable {
    private let action: Locked<Action?>

    init(_ action: @escaping @Sendable () -> Void) { self.action = Locked(Action(action)) }

    func run() { action.withLock { $0.take() }?() }

    func dispose() { _ = action.withLock { $0.take() } }
}
