/// The producer's side of a source: it delivers one event, and disposes the source's resource once.
///
/// `create` has an emitter for each subscription. So does a group of children, and each subscriber of a `share`. The subscription keeps its
/// emitter, so an emitter does not keep the subscription but gets it with each call.
struct Emitter<Element: Sendable>: Sendable {
    private struct State {
        /// The first event or `cancel` takes it. So a producer that keeps its callback for ever keeps nothing else alive.
        var observer: Single<Element>.Observer?
        var resource: (any Disposable)?
        /// Whether the source has ended. A resource that it returns later is disposed at once.
        var isFinished = false
        /// The thread that starts the source, until the source has started.
        var startingThread: ThreadID? = .current
        /// What remains of an event that came on that thread.
        var continuation = Continuation.none
    }

    private let state: Locked<State>

    init(_ observer: @escaping Single<Element>.Observer, resource: (any Disposable)? = nil) {
        state = Locked(State(observer: observer, resource: resource))
    }

    /// Delivers the event and then disposes the resource. Later events are ignored, and so is an event after the end.
    func emit(_ event: SingleEvent<Element>, in subscription: Subscription) -> Continuation {
        guard let continuation = observe(event, in: subscription)?.finishEvent() else { return .none }
        let (resource, isStarting) = state.withLock { state in
            state.isFinished = true
            // While this thread starts the source, `didStart` is still to come. It returns what remains.
            let isStarting = state.startingThread == .current
            if isStarting { state.continuation = continuation }
            return (state.resource.take(), isStarting)
        }
        if let resource { disposeAndRelease(resource, in: subscription) }
        return isStarting ? .none : continuation
    }

    /// This is a separate function, so that the observer is released before the event is finished. If the whole chain lived until then, it
    /// would be released in one recursion.
    private func observe(_ event: SingleEvent<Element>, in subscription: Subscription) -> Continuation? {
        takeObserver()?(subscription, event)
    }

    /// Takes the observer out. As the result of `withLock`, the closure would be wrapped once more.
    private func takeObserver() -> Single<Element>.Observer? {
        var observer: Single<Element>.Observer?
        state.withLock { state in
            observer = state.observer
            state.observer = nil
        }
        return observer
    }

    /// Takes the resource of a source that has started. Returns what remains of an event that came meanwhile.
    func didStart(with resource: (any Disposable)? = nil, in subscription: Subscription) -> Continuation {
        let (isFinished, continuation) = state.withLock { state in
            defer { (state.startingThread, state.continuation) = (nil, .none) }
            if !state.isFinished, let resource { state.resource = resource }
            return (state.isFinished, state.continuation)
        }
        if isFinished, let resource { disposeAndRelease(resource, in: subscription) }
        return continuation
    }

    /// Disposes the resource, now or when the source returns it.
    func cancel(in subscription: Subscription) {
        // The observer is released here, when the lock is open.
        withExtendedLifetime(takeObserver()) {}
        let resource = state.withLock { state in
            state.isFinished = true
            return state.resource.take()
        }
        if let resource { disposeAndRelease(resource, in: subscription) }
    }

    private func disposeAndRelease(_ resource: any Disposable, in subscription: Subscription) {
        resource.dispose()
        subscription.release()
    }
}
