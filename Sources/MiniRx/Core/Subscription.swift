/// One run of a chain, and the disposable that `subscribe` returns.
///
/// It finishes once: with its event, which is then delivered, or by `dispose()`. No other event is delivered after that.
///
/// A source is the thing that a subscription waits for at the moment: the work of a `create`, a child group, or the run of a `share`.
/// `just` and `never` have none.
///
/// It is torn down when it has finished and `pendingCount` is 0. These are counted:
/// - the call that starts it, until it returns;
/// - a source, until its resource is disposed;
/// - a child, until it is torn down;
/// - the run of a `share` that it has joined: until it leaves the run or, if it got the event of the run or was the last to leave, until
///   the run is torn down;
/// - a running ``TrampolineStep``;
/// - a running `dispose()`.
final class Subscription: Disposable {
    private struct State {
        /// Whether it has its event or was disposed.
        var isFinished = false
        /// Whether it was disposed, even after its event.
        var wasDisposed = false
        /// Cancels the latest source. It is enough to keep one action, because a source starts only after the one before has delivered its
        /// event.
        var cancelSource: (@Sendable (Subscription) -> Void)?
        /// Starts with 1, for the call that starts the subscription.
        var pendingCount = 1
        /// The number of calls from operator to operator.
        var callCount = 0
        /// The actions to call at the teardown, or `nil` after it.
        var teardownActions: [Action]? = []
    }

    private let state = Locked(State())
    /// For a child, such as one single of a `zip`: the subscription of the `zip`, which counts the child as pending.
    private let parent: Subscription?

    init(childOf parent: Subscription? = nil) { self.parent = parent }

    /// Whether it has its event or was disposed.
    var isFinished: Bool { state.withLock(\.isFinished) }

    /// Whether it or its parent was disposed, even after its event.
    var wasDisposed: Bool { state.withLock(\.wasDisposed) || parent?.wasDisposed == true }

    // MARK: - Finishing

    /// Finishes with an event, which the caller then delivers. Returns false if it has already finished.
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

    /// Registers a source that is about to start, and counts it as pending. Returns false if the subscription has finished; the source must
    /// not be started then.
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

    /// Calls `action` at the teardown, or now if it is already torn down.
    func onTeardown(_ action: @escaping @Sendable () -> Void) {
        let isTornDown = state.withLock { state in
            state.teardownActions?.append(Action(action))
            return state.teardownActions == nil
        }
        if isTornDown { action() }
    }

    // MARK: - Calls

    enum CallTiming { case never, now, later }

    /// Counts a call from operator to operator, and returns when to make it: never if the subscription has finished, otherwise now. To keep
    /// the stack flat, every 32nd call is made later, when the calls on the stack have returned.
    func countCall() -> CallTiming {
        state.withLock { state in
            state.callCount += 1
            return state.isFinished ? .never : state.callCount.isMultiple(of: 32) ? .later : .now
        }
    }
}
