public import Dispatch

/// Runs work on a dispatch queue, one action at a time, in the order of the calls.
public final class SerialDispatchQueueScheduler: Scheduler {
    private let queue: DispatchQueue

    /// A scheduler with a serial queue of its own.
    public init(qos: DispatchQoS) {
        queue = DispatchQueue(label: "MiniRx.SerialDispatchQueueScheduler", qos: qos)
    }

    /// A scheduler that runs its actions on `queue`, one at a time also when `queue` is concurrent.
    public init(queue: DispatchQueue) {
        self.queue = DispatchQueue(label: "MiniRx.SerialDispatchQueueScheduler", target: queue)
    }

    /// The time of the system's clock.
    public var now: DispatchTime { .now() }

    /// Runs `action` on the queue, `delay` from now. Disposing what is returned before then drops the action.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        queue.schedule(after: delay, action)
    }
}

/// Runs work on a dispatch queue, several actions at a time if the queue is concurrent.
public final class ConcurrentDispatchQueueScheduler: Scheduler {
    private let queue: DispatchQueue

    /// A scheduler with a concurrent queue of its own.
    public init(qos: DispatchQoS) {
        queue = DispatchQueue(label: "MiniRx.ConcurrentDispatchQueueScheduler", qos: qos, attributes: .concurrent)
    }

    /// A scheduler that runs its actions on `queue`.
    public init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// The time of the system's clock.
    public var now: DispatchTime { .now() }

    /// Runs `action` on the queue, `delay` from now. Disposing what is returned before then drops the action.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        queue.schedule(after: delay, action)
    }
}
