/// A part of a chain with an end of its own, for which the chain waits.
final class Part: Source {
    let subscription: Subscription

    /// A part of `chain`, to which it must be attached, or held for it. It releases the chain at its end.
    init(of chain: Subscription, isBranch: Bool = false, onDisposed: (@Sendable () -> Void)? = nil) {
        subscription = Subscription(
            partOf: chain, isBranch: isBranch,
            onDisposed: {
                onDisposed?()
                chain.release()
            })
    }

    func cancel(in chain: Subscription) { subscription.dispose() }
}

/// Parts of a chain that run at the same time, as one source of it: for `zip` and `timeout`.
///
/// The first `finish` ends them all. The chain's `onDisposed` waits until each is released.
final class Parts: Source {
    private struct State {
        var isEnded = false
        var parts: [Part] = []
    }

    private let chain: Subscription
    private let state = Locked(State())

    /// `nil` if the chain has ended already.
    init?(of chain: Subscription) {
        self.chain = chain
        guard chain.attach(self) else { return nil }
    }

    /// Starts `single` as one more part, unless all have ended.
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.SingleObserver) {
        let part = Part(of: chain, isBranch: true)
        chain.hold()
        let isInTime = state.withLock { state in
            if !state.isEnded { state.parts.append(part) }
            return !state.isEnded
        }
        guard isInTime else { return chain.release() }
        part.subscription.start(single) { subscription, event in subscription.finish { observer(event) } }
    }

    /// Delivers the event of the whole, and then ends every part. Later calls do nothing.
    func finish(_ deliver: () -> Void) {
        guard let parts = end() else { return }
        deliver()
        release(parts)
    }

    func cancel(in chain: Subscription) {
        if let parts = end() { release(parts) }
    }

    private func end() -> [Part]? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            defer { state = State(isEnded: true) }
            return state.parts
        }
    }

    private func release(_ parts: [Part]) {
        parts.forEach { $0.subscription.dispose() }
        chain.release()
    }
}
