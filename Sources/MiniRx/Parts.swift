/// Parts of a chain that run at the same time, as one source of it: for `zip` and `timeout`.
///
/// The first `finish` ends them all. The chain's `onDisposed` waits until each is released.
struct Parts: Source {
    private struct State {
        var isEnded = false
        var parts: [Subscription] = []
    }

    private let subscription: Subscription
    private let state = Locked(State())

    /// `nil` if the chain has ended already.
    init?(of subscription: Subscription) {
        self.subscription = subscription
        guard subscription.attach(self) else { return nil }
    }

    /// Starts `single` as one more part, unless all have ended.
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.SingleObserver) {
        let part = subscription.addPart()
        let isTooLate = state.withLock { state in
            if !state.isEnded { state.parts.append(part) }
            return state.isEnded
        }
        guard !isTooLate else {
            part.dispose()
            return part.release()
        }
        part.start(single) { part, event in part.finish { observer(event) } }
    }

    /// Delivers the event of the whole, and then ends every part. Later calls do nothing.
    func finish(_ deliver: () -> Void) {
        guard let parts = end() else { return }
        deliver()
        release(parts)
    }

    func cancel(in subscription: Subscription) {
        if let parts = end() { release(parts) }
    }

    private func end() -> [Subscription]? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            defer { state = State(isEnded: true) }
            return state.parts
        }
    }

    private func release(_ parts: [Subscription]) {
        parts.forEach { $0.dispose() }
        subscription.release()
    }
}
