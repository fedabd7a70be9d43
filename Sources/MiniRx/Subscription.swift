/// One run of a chain, from `subscribe` to its end, and the disposable that `subscribe` returns; or a branch of one.
///
/// It comes down to the sources and comes back with the event, so that no closure of a chain has to keep it alive. It has one active source
/// at a time: first itself, if it is an ``Emitter`` or ``Parts``, then what is attached. When it has ended and all that was attached is
/// released, `onDisposed` is called.
///
/// The rule for its mutex is: decide under it, take out what is to be called or released, unlock, then call.
@usableFromInline
class Subscription: Cancelable, Source, @unchecked Sendable {  // The variables are touched under the mutex.
    /// What this is a branch of, or a source.
    @usableFromInline final let owner: Fork?
    @exclusivity(unchecked) @usableFromInline final var source: (any Source)?
    @exclusivity(unchecked) @usableFromInline final var onDisposed: Action?
    @exclusivity(unchecked) @usableFromInline final var memberships: [DisposeBag.Membership] = []
    /// Attached sources that are not released yet, and an end that has not unwound.
    @exclusivity(unchecked) @usableFromInline final var unreleased: Int32 = 0
    @exclusivity(unchecked) @usableFromInline final var hasEnded = false
    /// Whether `dispose()` has been called, before the end or after it.
    @exclusivity(unchecked) @usableFromInline final var isCancelled = false

    @inlinable
    init(owner: Fork?) { self.owner = owner }

    @inlinable final var mutex: Lock { .shared(by: self) }

    /// Whether it has ended, by an event or by `dispose()`.
    @inlinable final var isDisposed: Bool { mutex.withLock { hasEnded } }

    /// Whether the user has disposed what `subscribe` has returned.
    @usableFromInline var hasBeenDisposed: Bool { owner?.hasBeenDisposed ?? mutex.withLock { isCancelled } }

    /// Calls `action` once this has ended and all is released, which may be now.
    @inlinable
    final func whenReleased(_ action: Action) {
        let isReleased = mutex.withLock {
            if hasEnded, unreleased == 0 { return true }
            onDisposed = action
            return false
        }
        if isReleased { action() }
    }

    /// Makes `source` the one that `dispose()` cancels. False if it is too late for that: then the source must not start.
    @inlinable
    final func attach(_ source: any Source) -> Bool {
        var old: (any Source)?
        let isAttached = mutex.withLock {
            guard !hasEnded else { return false }
            unreleased += 1
            old = self.source
            self.source = source
            return true
        }
        _ = consume old
        return isAttached
    }

    /// So many of what counts as unreleased are released.
    @inlinable
    final func release(_ count: Int32 = 1) {
        let (isReleased, waiting) = mutex.withLock { () -> (Bool, Action?) in
            unreleased -= count
            guard hasEnded, unreleased == 0 else { return (false, nil) }
            return (true, onDisposed.take())
        }
        waiting?()
        if isReleased { owner?.finishOne() }
    }

    /// Ends with an event. False if it has ended before. The caller delivers the event, and then calls `release`.
    @inlinable
    final func end() -> Bool {
        guard let held = mutex.withLock({ close() }) else { return false }
        for membership in held.memberships { membership.leave() }
        return true
    }

    @usableFromInline
    final func dispose() { cancel(byUser: true) }

    /// Ends without an event, unless it has ended already.
    @usableFromInline
    final func cancel(byUser: Bool = false) {
        let closed = mutex.withLock {
            if byUser { isCancelled = true }
            return close()
        }
        guard let held = closed else { return }
        (held.source ?? self).cancel(in: self)
        for membership in held.memberships { membership.leave() }
        release()
    }

    /// The one transition to the end, under the mutex.
    @inlinable
    final func close() -> (source: (any Source)?, memberships: [DisposeBag.Membership])? {
        guard !hasEnded else { return nil }
        hasEnded = true
        unreleased += 1
        defer { (source, memberships) = (nil, []) }
        return (source, memberships)
    }

    /// Cancels what this was before anything was attached.
    @usableFromInline
    func cancel(in subscription: Subscription) {}

    /// Remembers a place in a bag, to leave it at the end. False if the end has come already.
    final func join(_ membership: DisposeBag.Membership) -> Bool {
        mutex.withLock {
            guard !hasEnded else { return false }
            memberships.append(membership)
            return true
        }
    }
}

/// What a subscription cancels: an ``Emitter``, or what an operator puts in the place of one.
@usableFromInline
protocol Source: AnyObject, Sendable {
    /// Releases the source, now or as soon as it can be, and then tells the subscription by ``Subscription/release(_:)``.
    func cancel(in subscription: Subscription)
}
