/// The producer's side of a source: delivers one event, and disposes the source's resource once.
///
/// Each subscription to a `create`, each child group and each subscriber of a `share` has an emitter. A subscription keeps its emitter (in
/// `cancelSource`). To avoid a retain cycle, the emitter does not store the subscription: callers pass the subscription.
struct Emitter<Element: Sendable>: Sendable {
    private struct State {
        /// `nil` after the first event or `cancel`, so that a producer's callback, kept forever, keeps nothing else alive.
        var observer: Single<Element>.Observer?
        var resource: (any Disposable)?
        /// Whether the source has ended. A later resource is disposed at once.
        var isFinished = false
        /// The thread that starts the source, until the source has started.
        var startingThread: ThreadID? = .current
        /// The next step, if the source emits on the starting thread. `emit` leaves the step here, and `finishStarting` returns the step,
        /// to run after the resource is disposed.
        var nextStep = TrampolineStep.none
    }

    private let state: Locked<State>

    init(_ observer: @escaping Single<Element>.Observer, resource: (any Disposable)? = nil) {
        state = Locked(State(observer: observer, resource: resource))
    }

    /// Delivers the event, disposes the resource, and returns the next step. Later events are ignored, and so is an event after `cancel`.
    func emit(_ event: SingleEvent<Element>, in subscription: Subscription) -> TrampolineStep {
        guard let nextStep = notifyObserver(of: event, in: subscription)?.runBeforeDisposal() else { return .none }
        let (resource, isStarting) = state.withLock { state in
            state.isFinished = true
            // A thread that is still starting the source calls `finishStarting` next, which returns the step.
            let isStarting = state.startingThread == .current
            if isStarting { state.nextStep = nextStep }
            return (state.resource.take(), isStarting)
        }
        if let resource { dispose(resource, in: subscription) }
        return isStarting ? .none : nextStep
    }

    /// A separate function, so that the observer is released before the next step runs. Otherwise a whole chain of observers would be
    /// released together, each in the `deinit` of the previous one, and overflow the stack.
    private func notifyObserver(of event: SingleEvent<Element>, in subscription: Subscription) -> TrampolineStep? {
        takeObserver()?(subscription, event)
    }

    /// Takes the observer out. Returning the closure from the generic `withLock` would add a thunk.
    private func takeObserver() -> Single<Element>.Observer? {
        var observer: Single<Element>.Observer?
        state.withLock { state in
            observer = state.observer
            state.observer = nil
        }
        return observer
    }

    /// Stores the source's resource, or disposes the resource of an ended source. Returns the next step after an `emit` on this thread.
    func finishStarting(with resource: (any Disposable)? = nil, in subscription: Subscription) -> TrampolineStep {
        let (isFinished, nextStep) = state.withLock { state in
            defer { (state.startingThread, state.nextStep) = (nil, .none) }
            if !state.isFinished, let resource { state.resource = resource }
            return (state.isFinished, state.nextStep)
        }
        if isFinished, let resource { dispose(resource, in: subscription) }
        return nextStep
    }

    /// Disposes the resource, now or as soon as the source returns it.
    func cancel(in subscription: Subscription) {
        // The observer is released here, after unlocking.
        withExtendedLifetime(takeObserver()) {}
        let resource = state.withLock { state in
            state.isFinished = true
            return state.resource.take()
        }
        if let resource { dispose(resource, in: subscription) }
    }

    /// Disposes the resource. The source is then no longer pending.
    private func dispose(_ resource: any Disposable, in subscription: Subscription) {
        resource.dispose()
        subscription.leave()
    }
}
