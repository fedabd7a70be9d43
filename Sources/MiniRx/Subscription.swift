/// One run of a chain or of a branch, from `subscribe` to its end. It is the disposable that `subscribe` returns.
///
/// It is passed down to the sources, and comes back with the event, so no closure of a chain has to keep it alive. It has one active source
/// at a time. The first may be the subscription itself, if it is an ``Emitter`` or ``Parts``. Later ones are attached. When it has ended and
/// all its sources are released, `onDisposed` is called.
///
/// The rule for its mutex: decide under the mutex, take out what you must call or release, unlock, then call.
@usableFromInline
class Subscription: Cancelable, Source, @unchecked Sendable {  // The variables are used only under the mutex.
    /// The fork that this is a branch of.
    @usableFromInline final let owner: Fork?
    @exclusivity(unchecked) @usableFromInline final var source: (any Source)?
    @exclusivity(unchecked) @usableFromInline final var onDisposed: Action?
    @exclusivity(unchecked) @usableFromInline final var memberships: [DisposeBag.Membership] = []
    /// The number of sources that are not released yet. An end whose call has not returned yet counts as one.
    @exclusivity(unchecked) @usableFromInline final var unreleased: Int32 = 0
    @exclusivity(unchecked) @usableFromInline final var hasEnded = false
    /// Whether `dispose()` has been called, before the end or after it.
    @exclusivity(unchecked) @usableFromInline final var isCancelled = false

    @inlinable
    init(owner: Fork?) { self.owner = owner }

    @inlinable final var mutex: Lock { .shared(by: self) }

    /// Whether it has ended, by an event or by `dispose()`.
    @inlinable final var isDisposed: Bool { mutex.withLock { hasEnded } }

    /// Whether the user has disposed the result of `subscribe`.
    @usableFromInline var hasBeenDisposed: Bool { owner?.hasBeenDisposed ?? mutex.withLock { isCancelled } }

    /// Calls `action` when this has ended and everything is released. That may be now.
    @inlinable
    final func whenReleased(_ action: Action) {
        let isReleased = mutex.withLock {
            if hasEnded, unreleased == 0 { return true }
            onDisposed = action
            return false
        }
        if isReleased { action() }
    }

    /// Makes `source` the one that `dispose()` cancels. If this returns false, it is too late, and the source must not start.
    @inlinable
    final func attach(_ source: any Source) -> Bool {
        // The old source is let go outside of the mutex.
        let (isAttached, _) = mutex.withLock { () -> (Bool, (any Source)?) in
            guard !hasEnded else { return (false, nil) }
            unreleased += 1
            defer { self.source = source }
            return (true, self.source)
        }
        return isAttached
    }

    /// Reduces the number of unreleased sources by `count`.
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

    /// Ends with an event. Returns false if it has ended before. The caller delivers the event, and then calls `release`.
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

    /// Ends, under the mutex. Returns `nil` if it has ended before.
    @inlinable
    final func close() -> (source: (any Source)?, memberships: [DisposeBag.Membership])? {
        guard !hasEnded else { return nil }
        hasEnded = true
        unreleased += 1
        defer { (source, memberships) = (nil, []) }
        return (source, memberships)
    }

    /// Cancels this as a source. Only an ``Emitter`` or ``Parts`` is one.
    @usableFromInline
    func cancel(in subscription: Subscription) {}

    /// Remembers a place in a bag, to leave it at the end. Returns false if this has ended.
    final func join(_ membership: DisposeBag.Membership) -> Bool {
        mutex.withLock {
            guard !hasEnded else { return false }
            memberships.append(membership)
            return true
        }
    }
}

/// Something that a subscription can cancel: an ``Emitter``, ``Parts``, or a member of a `share`.
@usableFromInline
protocol Source: AnyObject, Sendable {
    /// Releases the source as soon as possible, and then calls ``Subscription/release(_:)``.
    func cancel(in subscription: Subscription)
}
