/// One run of a chain or of a branch, from its start to its end. It is the disposable that `subscribe` returns.
///
/// It is handed down to the sources, and along with the event, so no closure of a chain has to keep it alive. It has one source at a time.
///
/// The rule for its mutex: decide under the mutex, take out what you must call or release, unlock, then call.
@usableFromInline
final class Subscription: Cancelable, @unchecked Sendable {  // The variables are used under the mutex, or by the thread that drives.
    @usableFromInline
    enum State {
        case active
        /// It has ended with its event.
        case delivered
        /// It has ended without an event.
        case cancelled
        /// It has ended, everything is released, and those who wait for that are told.
        case over
    }

    @usableFromInline let owner: (any Owner)?
    /// The branch after this one of the same parts. Under their mutex, and after their end by the one who ends them.
    @exclusivity(unchecked) @usableFromInline var sibling: Subscription?
    @exclusivity(unchecked) @usableFromInline var mutex: Lock

    // These are used under the mutex.
    /// The thread that drives the chain: it delivers an event, or starts a source. It then goes on to ``proceed()``.
    @exclusivity(unchecked) @usableFromInline var driver: ThreadID? = .current
    @exclusivity(unchecked) @usableFromInline var state = State.active
    /// Whether no closure of the chain may run any more.
    @exclusivity(unchecked) @usableFromInline var isSilenced = false
    @exclusivity(unchecked) @usableFromInline var isDisposedByUser = false

    // Only the thread that drives uses these, and `next`.
    /// Whether `subscribe` is still at work, so that nobody else can dispose this. That saves the mutex before each closure.
    @exclusivity(unchecked) @usableFromInline var isUnknown: Bool
    /// Whether the event of a source is under way. Then the next source must wait until that one is released.
    @exclusivity(unchecked) @usableFromInline var isInEvent = false
    /// The number of calls on the stack.
    @exclusivity(unchecked) @usableFromInline var depth: Int8 = 0

    // These are used under the mutex.
    /// The number of the source that is open. It grows when a source is opened and when it is closed, so none has an even number.
    @exclusivity(unchecked) @usableFromInline var source: Int32 = 0
    /// The number of resources that are not released.
    @exclusivity(unchecked) @usableFromInline var unreleased: Int32 = 0
    /// The observer of the open source, until its event.
    @exclusivity(unchecked) @usableFromInline var receiver: Receiver?
    /// Whether the open source has a resource. While the body of `create` runs, it has none.
    @exclusivity(unchecked) @usableFromInline var hasResource = false
    /// The resource, unless there is nothing to dispose.
    @exclusivity(unchecked) @usableFromInline var resource: (any Disposable)?
    @exclusivity(unchecked) @usableFromInline var onDisposed: Action?
    @exclusivity(unchecked) @usableFromInline var memberships: [DisposeBag.Membership] = []

    @exclusivity(unchecked) @usableFromInline var next: Next?

    @inlinable
    init(onDisposed: Action? = nil) {
        (owner, self.onDisposed, isUnknown, mutex) = (nil, onDisposed, true, .first)
        mutex = .shared(by: self)
    }

    /// A branch. It has the mutex of its owner, which can then change both at once.
    @inlinable
    init(owner: any Owner, mutex: Lock) {
        (self.owner, self.mutex, isUnknown) = (owner, mutex, false)
    }

    @usableFromInline var isDisposed: Bool { mutex.withLock { state != .active } }

    /// Whether it has ended, alone or with all that it is a branch of. Any thread may ask, such as that of a branch.
    @inlinable var hasEnded: Bool { mutex.withLock { state != .active } || owner?.isOver ?? false }

    /// The same for the thread that drives. Check it before each closure of the user.
    @inlinable var isOver: Bool { !isUnknown && hasEnded }

    /// Whether it was disposed without its event, or later by the user. Check it before a closure that runs after the event.
    @inlinable var isSilent: Bool { mutex.withLock { isSilenced } || owner?.isSilent ?? false }

    /// Ends with an event, which the caller delivers. Returns false if it has ended before.
    @inlinable
    func end() -> Bool {
        isUnknown ? endNow() : mutex.withLock { endNow() }
    }

    /// The same under the mutex.
    @inlinable
    func endNow() -> Bool {
        guard state == .active else { return false }
        state = .delivered
        return true
    }

    /// Ends without an event, unless it has ended already.
    @usableFromInline
    func dispose() {
        let isByUser = !Release.isUnderWay
        let isFirst = mutex.withLock {
            if isByUser { (isDisposedByUser, isSilenced) = (true, true) }
            guard state == .active else { return false }
            (state, isSilenced) = (.cancelled, true)
            unreleased += 1
            return true
        }
        guard isFirst else { return }
        // No source can be opened any more. The receiver is let go outside of the mutex.
        let (open, _) = mutex.withLock { (source, receiver.take()) }
        if !open.isMultiple(of: 2) { close(open) }
        release()
    }

    /// Adds something to be released before `onDisposed`.
    @inlinable
    func awaitRelease() { mutex.withLock { unreleased += 1 } }

    /// The same for a branch that has not ended, with what is to run then. Returns false if it has ended.
    @inlinable
    func awaitRelease(then action: Action) -> Bool {
        mutex.withLock {
            guard state == .active else { return false }
            (unreleased, onDisposed) = (unreleased + 1, action)
            return true
        }
    }

    @inlinable
    func release() {
        if mutex.withLock({ releaseNow() }) { tell() }
    }

    /// The same under the mutex. Returns whether to ``tell()``.
    @inlinable
    func releaseNow() -> Bool {
        unreleased -= 1
        return isNowReleased()
    }

    /// Whether this is the moment to tell that everything is released, under the mutex. That comes once, after the event.
    @inlinable
    func isNowReleased() -> Bool {
        guard unreleased == 0, state == .cancelled || state == .delivered && driver == nil else { return false }
        state = .over
        return true
    }

    @usableFromInline
    func tell() {
        // Once it is over, nobody else uses these two.
        for membership in memberships { membership.leave() }
        memberships = []
        onDisposed.take()?()
        owner?.branchReleased()
    }

    /// Whether it has ended and everything is released.
    var hasGone: Bool { mutex.withLock { state == .over } }

    /// Remembers a place in a bag, to leave it at the end. Returns false if this is over.
    func join(_ membership: DisposeBag.Membership) -> Bool {
        mutex.withLock {
            guard state != .over else { return false }
            memberships.append(membership)
            return true
        }
    }
}
