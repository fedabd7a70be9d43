public import Dispatch

/// A scheduler that runs actions on the main queue.
///
/// If it is called on the main queue, and no other action of it waits or runs, it runs the action at once. Otherwise actions run in the
/// order of the calls.
public final class MainScheduler: Scheduler {
    /// The shared instance.
    public static let instance = MainScheduler()

    /// Actions that are to run on the main queue, or do.
    private let unfinished = Locked(0)

    private init() {}

    /// The time of the system clock.
    public var now: DispatchTime { .now() }

    /// Runs `action` on the main queue after `delay`. To cancel the action, dispose the result.
    ///
    /// An action may schedule another, which runs later in its own turn of the queue. So a poll may go on without end.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        guard delay == .zero else {
            return DispatchQueue.main.schedule(after: delay) {
                self.unfinished.withLock { $0 += 1 }
                self.finish(action)
            }
        }
        let isFirst = unfinished.withLock { unfinished in
            unfinished += 1
            return unfinished == 1
        }
        guard !(isFirst && Self.isOnMainQueue) else {
            finish(action)
            return Disposables.create()
        }
        let item = ScheduledItem(action)
        DispatchQueue.main.async { self.finish(item.run) }
        return item
    }

    /// Asks the queue and not the thread: on Linux a program that has called `dispatchMain()` runs its main queue on another thread.
    static var isOnMainQueue: Bool { mainQueue.isCurrent }

    private static let mainQueue = QueueMark(on: .main)

    private func finish(_ action: () -> Void) {
        action()
        unfinished.withLock { $0 -= 1 }
    }
}
