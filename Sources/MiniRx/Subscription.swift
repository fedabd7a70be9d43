/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns.
///
/// It is handed down to the source, and comes back with the event. A chain has one active source at a time: `flatMap` attaches the next
/// when the last has been released. `onDisposed` waits until the chain has ended and every source it attached is released.
struct Subscription: Cancelable {
    private struct State {
        var isEnded = false
        /// Attached sources whose resource is not released yet, and an event that is being delivered.
        var unreleased = 0
        var source: (any Source)?
        var onDisposed: (@Sendable () -> Void)?
        var memberships: [DisposeBag.Membership] = []

        mutating func takeOnDisposedIfDone() -> (@Sendable () -> Void)? {
            isEnded && unreleased == 0 ? onDisposed.take() : nil
        }
    }

    private let state: Locked<State>
    /// The subscription of which this is a part, or itself: what a ``Trampoline`` goes by.
    let root: ObjectIdentifier

    init(onDisposed: (@Sendable () -> Void)? = nil) {
        state = Locked(State(onDisposed: onDisposed))
        root = state.id
    }

    private init(within parent: Subscription, onDisposed: @escaping @Sendable () -> Void) {
        state = Locked(
            State(onDisposed: {
                onDisposed()
                parent.release()
            }))
        root = parent.root
    }

    /// A part of this chain with an end of its own: this subscription's `onDisposed` comes after the part's. `nil` if this has ended.
    func part(onDisposed: @escaping @Sendable () -> Void) -> Subscription? {
        let part = Subscription(within: self, onDisposed: onDisposed)
        return attach(part) ? part : nil
    }

    var isDisposed: Bool { state.withLock(\.isEnded) }

    /// Runs the chain, and then what its operators ask to be run next, with a flat stack.
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.run(for: root) { single.run(self, observer) }
    }

    /// Subscribes to `single` as the next source of this chain, once the present one has unwound and is released.
    func next<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        Trampoline.next {
            guard !isDisposed else { return }
            single.run(self, observer)
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
        state.withLock { state in
            state.unreleased -= 1
            return state.takeOnDisposedIfDone()
        }?()
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

    /// The one transition from active to ended. The ended subscription is held by whoever made it, who must `release()` it.
    private func end() -> (source: (any Source)?, memberships: [DisposeBag.Membership])? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            state.unreleased += 1
            defer { state.memberships = [] }
            return (state.source.take(), state.memberships)
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

extension Subscription: Source {
    func cancel(in subscription: Subscription) { dispose() }
}
