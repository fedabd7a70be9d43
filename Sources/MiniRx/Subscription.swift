/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns.
///
/// It is handed down to the source and comes back with the event. A chain has one active source at a time: what `flatMap` and `catch` want
/// to subscribe to next is started when every source so far is released, by whoever released the last, from a loop, so that the stack stays
/// flat. When the chain has ended and every source is released, `onDisposed` is called.
@usableFromInline
struct Subscription: Cancelable {
    @usableFromInline
    struct State {
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

    /// Guards what an ``Emitter`` of this subscription holds, too.
    @usableFromInline let state: Locked<State>

    @usableFromInline
    init(onDisposed: (@Sendable () -> Void)? = nil) {
        state = Locked(State(onDisposed: onDisposed))
    }

    @usableFromInline var isDisposed: Bool { state.withLock(\.isEnded) }

    /// Runs the chain. To be called once.
    @inlinable
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        single.run(self, observer)
        release()
    }

    /// Subscribes to `single` as the next source of this chain, once the present one is released.
    @inlinable
    func next<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        setNext { single.run(self, observer) }
    }

    @usableFromInline
    func setNext(_ next: @escaping () -> Void) {
        state.withLock { state in
            if !state.isEnded { state.next = next }
        }
    }

    /// Makes `source` the one that `dispose()` ends. False if it is too late for that: then the source must not start.
    @usableFromInline
    func attach(_ source: any Source) -> Bool {
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

    /// Waits for one `release()` more, as for an attached source.
    func hold() { state.withLock { $0.unreleased += 1 } }

    /// An attached source is released.
    @usableFromInline
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
    @usableFromInline
    func finish(_ deliver: () -> Void) {
        end { _ in deliver() }
    }

    @usableFromInline
    func dispose() {
        end { source in source?.cancel(in: self) }
    }

    /// The one transition from active to ended. What was held until then is let go after the lock.
    private func end(_ act: ((any Source)?) -> Void) {
        var source: (any Source)?
        var next: (() -> Void)?
        var memberships: [DisposeBag.Membership] = []
        let isFirst = state.withLock { state in
            guard !state.isEnded else { return false }
            state.isEnded = true
            state.unreleased += 1
            swap(&source, &state.source)
            swap(&next, &state.next)
            swap(&memberships, &state.memberships)
            return true
        }
        guard isFirst else { return }
        act(source)
        memberships.forEach { $0.leave() }
        release()
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

/// What a subscription can end: an ``Emitter``, or parts of its own chain.
@usableFromInline
protocol Source: AnyObject, Sendable {
    /// Releases the source, now or as soon as it can be, and then tells the subscription by `release()`.
    func cancel(in subscription: Subscription)
}
