public import Dispatch

/// Runs work on the main queue: at once when it is called there with nothing of its own waiting or running, else in the order of the calls.
/// What has a delay comes when that has passed.
public final class MainScheduler: Scheduler {
    /// The one main scheduler.
    public static let instance = MainScheduler()

    /// Actions that are to run on the main queue, or do.
    private let unfinished = Locked(0)

    private init() {}

    /// The time of the system's clock.
    public var now: DispatchTime { .now() }

    /// Runs `action` on the main queue, `delay` from now. Disposing what is returned before then drops the action.
    ///
    /// What is scheduled by an action that runs comes after it, in a turn of its own: so a poll may ask again for ever.
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
