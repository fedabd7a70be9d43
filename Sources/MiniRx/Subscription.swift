/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns.
///
/// It is handed down to the source and comes back with the event. A chain has one active source at a time: `flatMap` and `catch` attach the
/// next when the last has unwound. When the chain has ended and every source is released, `onDisposed` is called.
@usableFromInline
struct Subscription: Cancelable {
    @usableFromInline
    struct State {
        var isEnded = false
        /// Attached sources and branches that are not released yet, and an end that is under way.
        @usableFromInline var unreleased = 0
        var source: (any Source)?
        /// What waits until this is released: a callback, and the chain that this is a branch of.
        var onDisposed: (@Sendable () -> Void)?
        var chain: Subscription?
        var memberships: [DisposeBag.Membership] = []
    }

    /// Guards what an ``Emitter`` of this subscription holds, too.
    @usableFromInline let state: Locked<State>
    /// The whole that this is a part of: there, or in its own branch, a ``Trampoline`` puts the next step.
    @usableFromInline let root: ObjectIdentifier

    /// A chain, or a branch of `chain`.
    @usableFromInline
    init(partOf chain: Subscription? = nil, onDisposed: (@Sendable () -> Void)? = nil) {
        state = Locked(State(onDisposed: onDisposed, chain: chain))
        root = chain?.root ?? state.id
    }

    @usableFromInline var isDisposed: Bool { state.withLock(\.isEnded) }

    @inlinable
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.run(for: state.id) { single.run(self, observer) }
    }

    /// Subscribes to `single` as the next source of this chain, once the present one has unwound.
    @inlinable
    func next<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.next(in: state.id, of: root) {
            guard !isDisposed else { return }
            single.run(self, observer)
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

    /// An attached source is released, or a branch.
    @usableFromInline
    func release() {
        let waiting = state.withLock { state -> (onDisposed: (@Sendable () -> Void)?, chain: Subscription?)? in
            state.unreleased -= 1
            return state.isEnded && state.unreleased == 0 ? (state.onDisposed.take(), state.chain.take()) : nil
        }
        waiting?.onDisposed?()
        waiting?.chain?.release()
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
        var memberships: [DisposeBag.Membership] = []
        let isFirst = state.withLock { state in
            guard !state.isEnded else { return false }
            state.isEnded = true
            state.unreleased += 1
            swap(&source, &state.source)
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
