/// One run of a chain, and the disposable that `subscribe` returns.
///
/// Finishes once, with an event or by `dispose()`. Only that event is delivered.
///
/// A source is what a subscription is waiting for: the work of a `create`, a child group, or the run of a `share`. `just` and `never` have
/// none.
///
/// A finished subscription is torn down when `pendingCount` is 0. These are counted:
/// - the starting call, until it returns;
/// - a source, until its resource is disposed;
/// - a child, until it is torn down;
/// - a shared run: until unsubscribed, or until the run's teardown for its last subscriber and those that received its event;
/// - a running ``TrampolineStep``;
/// - a running `dispose()`.
final class Subscription: Disposable {
    private struct State {
        /// Whether the subscription has an event or was disposed.
        var isFinished = false
        /// Whether `dispose()` was called, even after the event.
        var wasDisposed = false
        /// Cancels the latest source. One action is enough, because a source starts only after the previous source's event.
        var cancelSource: (@Sendable (Subscription) -> Void)?
        /// Begins with 1, for the starting call.
        var pendingCount = 1
        /// The number of calls from operator to operator.
        var callCount = 0
        /// Called at the teardown; `nil` afterwards.
        var teardownActions: [Action]? = []
    }

    private let state = Locked(State())
    /// For a child, such as one single of a `zip`: the subscription of the `zip`, where the child is pending.
    private let parent: Subscription?

    init(childOf parent: Subscription? = nil) { self.parent = parent }

    /// Whether the subscription has an event or was disposed.
    var isFinished: Bool { state.withLock(\.isFinished) }

    /// Whether `dispose()` was called here or on the parent, even after the event.
    var wasDisposed: Bool { state.withLock(\.wasDisposed) || parent?.wasDisposed == true }

    // MARK: - Finishing

    /// Finishes with an event, for the caller to deliver. Returns false if already finished.
    func finish() -> Bool {
        state.withLock { state in
            guard !state.isFinished else { return false }
            state.isFinished = true
            return true
        }
    }

    func dispose() {
        let isFirst = state.withLock { state in
            state.wasDisposed = true
            guard !state.isFinished else { return false }
            state.isFinished = true
            // For this call, until the source is cancelled.
            state.pendingCount += 1
            return true
        }
        guard isFirst else { return }
        state.withLock { $0.cancelSource }?(self)
        leave()
    }

    /// Registers a source before its start, and counts the source as pending. Returns false if the subscription has finished; do not start
    /// the source then.
    func addSource(cancel: @escaping @Sendable (Subscription) -> Void) -> Bool {
        state.withLock { state in
            guard !state.isFinished else { return false }
            state.cancelSource = cancel
            state.pendingCount += 1
            return true
        }
    }

    // MARK: - Teardown

    /// Delays the teardown until a call of ``leave()``, as in a `DispatchGroup`.
    func enter() { state.withLock { $0.pendingCount += 1 } }

    func leave() {
        let actions = state.withLock { state -> [Action]? in
            state.pendingCount -= 1
            return state.pendingCount == 0 && state.isFinished ? state.teardownActions.take() : nil
        }
        guard let actions else { return }
        for action in actions { action() }
        parent?.leave()
    }

    /// Calls `action` at the teardown, or now after the teardown.
    func onTeardown(_ action: @escaping @Sendable () -> Void) {
        let isTornDown = state.withLock { state in
            state.teardownActions?.append(Action(action))
            return state.teardownActions == nil
        }
        if isTornDown { action() }
    }

    // MARK: - Calls

    enum CallTiming { case never, now, later }

    /// Counts a call from operator to operator, and returns when to make the call: now, or never in a finished subscription. To keep the
    /// stack flat, every 32nd call is made later, after the calls on the stack return.
    func countCall() -> CallTiming {
        state.withLock { state in
            state.callCount += 1
            return state.isFinished ? .never : state.callCount.isMultiple(of: 32) ? .later : .now
        }
    }
}
