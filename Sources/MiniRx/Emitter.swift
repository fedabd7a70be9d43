/// The producer's side of one `create`: it lets one event through, and disposes the producer's resource exactly once.
struct Emitter<Element: Sendable>: Source {
    private enum Phase {
        case active(Single<Element>.Observer)
        case emitting
        case ended
    }

    private struct State {
        var phase: Phase
        var resource: (any Disposable)?

        /// Ends, and hands out the resource to dispose. There is none yet while the producer's body runs: then `hold` disposes it.
        mutating func end() -> (any Disposable)? {
            phase = .ended
            return resource.take()
        }
    }

    private let state: Locked<State>

    init(_ observer: @escaping Single<Element>.Observer) {
        state = Locked(State(phase: .active(observer)))
    }

    func emit(_ event: SingleEvent<Element>, in subscription: Subscription) {
        let observer = state.withLock { state -> Single<Element>.Observer? in
            guard case .active(let observer) = state.phase else { return nil }
            state.phase = .emitting
            return observer
        }
        guard let observer else { return }
        observer(subscription, event)
        release(state.withLock { $0.end() }, in: subscription)
    }

    /// Takes what the producer's body has returned.
    func hold(_ resource: any Disposable, in subscription: Subscription) {
        let isTooLate = state.withLock { state in
            if case .ended = state.phase { return true }
            state.resource = resource
            return false
        }
        if isTooLate { release(resource, in: subscription) }
    }

    func cancel(in subscription: Subscription) {
        // The phase goes out with the resource: the observer it may hold is released after the lock.
        let (phase, resource) = state.withLock { ($0.phase, $0.end()) }
        release(resource, in: subscription)
        _ = consume phase
    }

    private func release(_ resource: (any Disposable)?, in subscription: Subscription) {
        guard let resource else { return }
        resource.dispose()
        subscription.release()
    }
}
