/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns.
///
/// It is handed down to the source and comes back with the event. A chain has one active source at a time: `flatMap` and `catch` attach the
/// next when the last has unwound. When the chain has ended and every source is released, `onDisposed` is called.
@usableFromInline
struct Subscription: Cancelable {
    @usableFromInline
    struct State {
        var isEnded = false
        /// Attached sources that are not released yet, and an end that is under way.
        var unreleased = 0
        var source: (any Source)?
        var onDisposed: (@Sendable () -> Void)?
        var memberships: [DisposeBag.Membership] = []
    }

    /// Guards what an ``Emitter`` of this subscription holds, too.
    @usableFromInline let state: Locked<State>
    /// The whole that this is a part of, and the branch of it: where a ``Trampoline`` puts the next step.
    @usableFromInline let root: ObjectIdentifier
    @usableFromInline let branch: ObjectIdentifier

    /// A chain, or a part of `chain`, in its branch or in one of its own.
    @usableFromInline
    init(partOf chain: Subscription? = nil, isBranch: Bool = false, onDisposed: (@Sendable () -> Void)? = nil) {
        state = Locked(State(onDisposed: onDisposed))
        root = chain?.root ?? state.id
        branch = isBranch ? state.id : chain?.branch ?? state.id
    }

    @usableFromInline var isDisposed: Bool { state.withLock(\.isEnded) }

    @inlinable
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.run(for: branch) { single.run(self, observer) }
    }

    /// Subscribes to `single` as the next source of this chain, once the present one has unwound.
    @inlinable
    func next<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.next(in: branch, of: root) {
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

    /// Waits for one `release()` more, as for an attached source.
    func hold() { state.withLock { $0.unreleased += 1 } }

    /// An attached source is released.
    @usableFromInline
    func release() {
        let onDisposed = state.withLock { state -> (@Sendable () -> Void)? in
            state.unreleased -= 1
            return state.isEnded && state.unreleased == 0 ? state.onDisposed.take() : nil
        }
        onDisposed?()
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
