package import Dispatch
package import MiniRx

/// Runs each action at once, whatever its delay.
package struct ImmediateScheduler: Scheduler {
    /// Runs before each action.
    private let act: @Sendable () -> Void

    package init(act: @escaping @Sendable () -> Void = {}) { self.act = act }

    package var now: DispatchTime { .now() }

    package func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        act()
        action()
        return Disposables.create()
    }
}
