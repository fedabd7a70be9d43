/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns.
///
/// It is handed down to the source and comes back with the event. A chain has one active source at a time: what `flatMap` and `catch` want
/// to subscribe to next is started when every source so far is released, by whoever released the last, from a loop, so that the stack stays
/// flat. When the chain has ended and every source is released, `onDisposed` is called.
struct Subscription: Cancelable {
    private struct State {
        var isEnded = false
        /// Attached sources that are not released yet, and the call that is starting one.
        var unreleased = 1
        var source: (any Source)?
        var next: (() -> Void)?
        var onDisposed: (@Sendable () -> Void)?
        var memberships: [DisposeBag.Membership] = []
    }

    private enum Step {
        case wait
        case start(() -> Void)
        case end((@Sendable () -> Void)?)
    }

    private let state: Locked<State>

    init(onDisposed: (@Sendable () -> Void)? = nil) {
        state = Locked(State(onDisposed: onDisposed))
    }

    var id: ObjectIdentifier { state.id }

    var isDisposed: Bool { state.withLock(\.isEnded) }

    /// Runs the chain. To be called once.
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        single.run(self, observer)
        release()
    }

    /// Subscribes to `single` as the next source of this chain, once the present one is released.
    func next<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        let next = { single.run(self, observer) }
        state.withLock { state in
            if !state.isEnded { state.next = next }
        }
    }

    /// Makes `source` the one that `dispose()` ends. False if it is too late for that: then the source must not start.
    func attach(_ source: some Source) -> Bool {
        var old: (any Source)?
        let isAttached = state.withLock { state in
            guard !state.isEnded else { return false }
            state.unreleased += 1
            old = state.source
            state.source = source
            return true
        }
        _ = consume old
        return isAttached
    }

    /// An attached source is released.
    func release() {
        while true {
            let step = state.withLock { state -> Step in
                state.unreleased -= 1
                guard state.unreleased == 0 else { return .wait }
                guard !state.isEnded else { return .end(state.onDisposed.take()) }
                guard let next = state.next.take() else { return .wait }
                state.unreleased = 1
                return .start(next)
            }
            switch step {
            case .wait: return
            case .start(let next): next()
            case .end(let onDisposed):
                onDisposed?()
                return
            }
        }
    }

    /// Ends this subscription with the event that `deliver` hands to the observer, unless it has ended already.
    func finish(_ deliver: () -> Void) {
        guard let ended = end() else { return }
        deliver()
        ended.memberships.forEach { $0.leave() }
        release()
    }

    func dispose() {
        guard let ended = end() else { return }
        ended.source?.cancel(in: self)
        ended.memberships.forEach { $0.leave() }
        release()
    }

    /// The one transition from active to ended. What it hands out is let go after the lock; whoever made it must `release()`.
    private func end() -> State? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            let ended = state
            state = State(isEnded: true, unreleased: state.unreleased + 1, onDisposed: state.onDisposed)
            return ended
        }
    }

    /// Remembers a place in a bag, to leave it at the end. False if the end has come already.
    func join(_ membership: DisposeBag.Membership) -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            state.memberships.append(membership)
            return true
        }
    }
}

/// What a subscription can end: an ``Emitter``, or a part of its own chain.
protocol Source: Sendable {
    /// Releases the source, now or as soon as it can be, and then tells the subscription by `release()`.
    func cancel(in subscription: Subscription)
}

// A part of a chain has an end of its own, for which the chain waits.
extension Subscription: Source {
    func cancel(in subscription: Subscription) { dispose() }

    /// A part as the present source, to be started. `nil` if this has ended.
    func attachPart(onDisposed: @escaping @Sendable () -> Void) -> Subscription? {
        let part = Subscription(onDisposed: {
            onDisposed()
            release()
        })
        return attach(part) ? part : nil
    }

    /// A part beside the present source, to be started or released. The present source must not have been released.
    func addPart() -> Subscription {
        state.withLock { $0.unreleased += 1 }
        return Subscription(onDisposed: release)
    }
}
