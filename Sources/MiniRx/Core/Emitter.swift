/// The producer's side of a source: it delivers one event, and disposes the source's resource once.
///
/// Each subscription to a `create` has an emitter, and so has each child group and each subscriber of a `share`. A subscription keeps
/// its emitter (in `cancelSource`). To avoid a retain cycle, the emitter does not store the subscription: each call passes it.
struct Emitter<Element: Sendable>: Sendable {
    private struct State {
        /// `nil` after the first event or `cancel`, so that a producer that keeps its callback forever keeps nothing else alive.
        var observer: Single<Element>.Observer?
        var resource: (any Disposable)?
        /// Whether the source has ended. A resource that it returns later is disposed at once.
        var isFinished = false
        /// The thread that starts the source, until the source has started.
        var startingThread: ThreadID? = .current
        /// The next step, if the source emits on that thread while it is being started. `emit` leaves it here, and `finishStarting` returns
        /// it, so that it runs after the resource is disposed.
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
            // If this thread is still starting the source, it calls `finishStarting` next, and `finishStarting` returns the step.
            let isStarting = state.startingThread == .current
            if isStarting { state.nextStep = nextStep }
            return (state.resource.take(), isStarting)
        }
        if let resource { dispose(resource, in: subscription) }
        return isStarting ? .none : nextStep
    }

    /// This is a separate function, so that the observer is released before the next step runs. Otherwise the observers of a whole chain
    /// would be released together, each in the `deinit` of the one before, and overflow the stack.
    private func notifyObserver(of event: SingleEvent<Element>, in subscription: Subscription) -> TrampolineStep? {
        takeObserver()?(subscription, event)
    }

    /// Takes the observer out. Returning the closure from `withLock`, which is generic, would add a thunk.
    private func takeObserver() -> Single<Element>.Observer? {
        var observer: Single<Element>.Observer?
        state.withLock { state in
            observer = state.observer
            state.observer = nil
        }
        return observer
    }

    /// Stores the resource that the source has returned, or disposes it if the source has ended. Returns the next step if `emit` was called
    /// on this thread.
    func finishStarting(with resource: (any Disposable)? = nil, in subscription: Subscription) -> TrampolineStep {
        let (isFinished, nextStep) = state.withLock { state in
            defer { (state.startingThread, state.nextStep) = (nil, .none) }
            if !state.isFinished, let resource { state.resource = resource }
            return (state.isFinished, state.nextStep)
        }
        if isFinished, let resource { dispose(resource, in: subscription) }
        return nextStep
    }

    /// Disposes the resource, now or when the source returns it.
    func cancel(in subscription: Subscription) {
        // The observer is released here, after unlocking.
        withExtendedLifetime(takeObserver()) {}
        let resource = state.withLock { state in
            state.isFinished = true
            return state.resource.take()
        }
        if let resource { dispose(resource, in: subscription) }
    }

    /// Disposes the resource. The subscription no longer counts the source as pending then.
    private func dispose(_ resource: any Disposable, in subscription: Subscription) {
        resource.dispose()
        subscription.leave()
    }
}
