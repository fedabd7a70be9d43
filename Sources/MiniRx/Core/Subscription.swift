/// One run of a chain, and the disposable that `subscribe` returns.
///
/// It finishes once: with its event, or by `dispose()`. After that, it calls no observer.
///
/// It is released when it has finished and nobody holds it. That has nothing to do with reference counting. These hold it: the call that
/// starts it, until that returns; each source, until the source's resource is disposed; each child, until the child is released; and each
/// step of a chain, while it runs.
final class Subscription: Cancelable {
    private enum Finish { case event, dispose }

    private struct State {
        var finish: Finish?
        /// Cancels the current source. One source follows another only after its event, so a former one has nothing left to cancel.
        var cancelSource: (@Sendable (Subscription) -> Void)?
        var holdCount = 1
        /// The number of calls from operator to operator.
        var callCount = 0
        /// What to call at the release. It is `nil` after that.
        var releaseActions: [Action]? = []
    }

    private let state = Locked(State())
    /// For a child, such as one single of a `zip`: the subscription of the `zip`. The child holds it until the child is released.
    private let parent: Subscription?

    init(childOf parent: Subscription? = nil) { self.parent = parent }

    /// Whether it has finished, with its event or by `dispose()`.
    var isDisposed: Bool { state.withLock { $0.finish != nil } }

    /// Whether `dispose()` came before the event.
    var wasDisposed: Bool { state.withLock { $0.finish == .dispose } }

    /// Finishes with an event, which the caller then delivers. Returns false if it has already finished.
    func finish() -> Bool {
        state.withLock { state in
            guard state.finish == nil else { return false }
            state.finish = .event
            return true
        }
    }

    func dispose() {
        let isFirst = state.withLock { state in
            guard state.finish == nil else { return false }
            state.finish = .dispose
            // A hold until the source is cancelled.
            state.holdCount += 1
            return true
        }
        guard isFirst else { return }
        state.withLock { $0.cancelSource }?(self)
        release()
    }

    /// Registers a source that is about to start, and holds this for it. Returns false if this has finished: do not start the source then.
    func addSource(cancel: @escaping @Sendable (Subscription) -> Void) -> Bool {
        state.withLock { state in
            guard state.finish == nil else { return false }
            state.cancelSource = cancel
            state.holdCount += 1
            return true
        }
    }

    func hold() { state.withLock { $0.holdCount += 1 } }

    func release() {
        let actions = state.withLock { state -> [Action]? in
            state.holdCount -= 1
            return state.holdCount == 0 && state.finish != nil ? state.releaseActions.take() : nil
        }
        guard let actions else { return }
        for action in actions { action() }
        parent?.release()
    }

    /// Calls `action` at the release, or now if this is already released.
    func onRelease(_ action: @escaping @Sendable () -> Void) {
        let isReleased = state.withLock { state in
            state.releaseActions?.append(Action(action))
            return state.releaseActions == nil
        }
        if isReleased { action() }
    }

    enum Call { case never, now, later }

    /// Returns when to make the next call from operator to operator: never if this has finished, otherwise now. To keep the stack flat, every
    /// 32nd call is made later, when the calls on the stack have returned.
    func nextCall() -> Call {
        state.withLock { state in
            state.callCount += 1
            return state.finish != nil ? .never : state.callCount.isMultiple(of: 32) ? .later : .now
        }
    }
}
