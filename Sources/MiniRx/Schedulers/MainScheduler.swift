public import Dispatch

/// Runs work on the main thread: at once when it is called there with nothing of its own waiting, else in the order of the
/// calls; what has a delay comes when that has passed.
public final class MainScheduler: Scheduler {
    /// The one main scheduler.
    public static let instance = MainScheduler()

    /// Actions given to the main queue that have not begun.
    private let waiting = Locked(0)

    private init() {}

    /// The time of the system's clock.
    public var now: DispatchTime { .now() }

    /// Runs `action` on the main thread, `delay` from now. Disposing what is returned before then drops the action.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        guard delay == .zero else { return DispatchQueue.main.schedule(after: delay, action) }
        guard !(Self.isOnMainQueue && waiting.withLock { $0 == 0 }) else {
            action()
            return Disposables.create()
        }
        waiting.withLock { $0 += 1 }
        let item = ScheduledItem(action)
        DispatchQueue.main.async {
            self.waiting.withLock { $0 -= 1 }
            item.run()
        }
        return item
    }

    /// Asks the queue and not the thread: on Linux a program that has called `dispatchMain()` runs its main queue on another thread.
    static var isOnMainQueue: Bool { mainQueue.isCurrent }

    private static let mainQueue = QueueMark(on: .main)
}
