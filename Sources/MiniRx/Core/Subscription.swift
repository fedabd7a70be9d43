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
    @exclusivity(unchecked) @usableFromInline var mutex = Lock.first

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
    /// The resource of the open source. While the body of `create` runs, there is none.
    @exclusivity(unchecked) @usableFromInline var resource: (any Disposable)?
    @exclusivity(unchecked) @usableFromInline var onDisposed: Action?
    @exclusivity(unchecked) @usableFromInline var memberships: [DisposeBag.Membership] = []

    @exclusivity(unchecked) @usableFromInline var next: Next?

    @inlinable
    init(owner: (any Owner)? = nil, onDisposed: Action? = nil) {
        (self.owner, self.onDisposed, isUnknown) = (owner, onDisposed, owner == nil)
        mutex = .shared(by: self)
    }

    @usableFromInline var isDisposed: Bool { mutex.withLock { state != .active } }

    /// Whether it has ended, alone or with all that it is a branch of. Any thread may ask, such as that of a branch.
    @inlinable var hasEnded: Bool { mutex.withLock { state != .active } || owner?.isOver ?? false }

    /// The same for the thread that drives. Check it before each closure of the user.
    @inlinable var isOver: Bool { !isUnknown && hasEnded }

    /// Whether it was disposed without its event, or later by the user. Check it before a closure that runs after the event.
    @inlinable var isSilent: Bool { mutex.withLock { isSilenced } || owner?.isSilent ?? false }

    // MARK: Starting

    /// Starts the next source now, or when the event of the source before is over and that is released.
    @inlinable
    func start<Element: Sendable>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        guard isInEvent else { return single.run(self, observer) }
        next = Next(.source) { single.run($0, observer) }
    }

    /// Hands an event to the next observer of the chain.
    @inlinable
    func pass<Element: Sendable>(_ event: SingleEvent<Element>, to observer: @escaping Single<Element>.Observer) {
        guard goesDeeper else { return next = Next(.rest) { observer($0, event) } }
        observer(self, event)
    }

    /// Counts a call. If this returns false, the stack is deep, and the call must wait until that has unwound.
    @inlinable var goesDeeper: Bool {
        guard depth < 32 else { return false }
        depth += 1
        return true
    }

    /// Makes the calls that had to wait. Call it before what comes after them.
    @inlinable
    func finishCall() {
        let thread = ThreadID.current
        while let rest = mutex.withLock({ driver == thread && next?.kind == .rest ? next.take() : nil }) {
            depth = 0
            rest.start(self)
        }
    }

    /// Starts what follows, and what follows that. Then tells those who wait for the end, if this is the end.
    @inlinable
    func proceed() {
        let thread = ThreadID.current
        while true {
            let (next, isReleased) = mutex.withLock { () -> (Next?, Bool) in
                // Another thread may have delivered an event meanwhile. Then that one goes on.
                guard driver == thread else { return (nil, false) }
                let next = self.next.take()
                guard next == nil || state != .active else { return (next, false) }
                (driver, isUnknown) = (nil, false)
                return (next?.kind == .chain ? next : nil, isNowReleased())
            }
            if isReleased { tell() }
            guard let next else { return }
            (isInEvent, depth) = (false, 0)
            next.start(self)
        }
    }

    // MARK: Sources

    /// Opens a source and returns its number. Returns `nil` if it is too late, and the source must not start.
    @inlinable
    func open<Element: Sendable>(_ observer: @escaping Single<Element>.Observer) -> Int32? {
        mutex.withLock {
            guard state == .active else { return nil }
            (source, unreleased, receiver) = (source + 1, unreleased + 1, Receiver(observer))
            return source
        }
    }

    /// Delivers the event of the source with this number and goes on.
    @inlinable
    func emit<Element: Sendable>(_ event: SingleEvent<Element>, from number: Int32) {
        if deliver(event, from: number) { proceed() }
    }

    /// Delivers the event of the source with this number and releases the source. If this returns true, the caller calls ``proceed()``
    /// when it has released what it holds itself. If not, somebody does it who is further down on the stack.
    @inlinable
    func deliver<Element: Sendable>(_ event: SingleEvent<Element>, from number: Int32) -> Bool {
        let thread = ThreadID.current
        var (isNested, isInBody) = (false, false)
        var receiver = mutex.withLock { () -> Receiver? in
            guard source == number, let receiver = self.receiver.take() else { return nil }
            isNested = driver == thread
            driver = thread
            // The body that will return the resource is around this call.
            isInBody = isNested && resource == nil
            if isInBody { source += 1 }
            return receiver
        }
        guard receiver != nil else { return false }
        if !isNested { isUnknown = false }
        (isInEvent, depth) = (true, 0)
        // Let go before the rest of the call, so that a deep chain of observers is not released at once.
        receiver.take()?.receive(self, event)
        if next != nil { finishCall() }
        if !isInBody { close(number) }
        return !isNested
    }

    /// Takes the resource of the source with this number. If it is too late, it releases the resource.
    @inlinable
    func hold(_ resource: any Disposable, of number: Int32) {
        let isHeld = mutex.withLock {
            if source == number { self.resource = resource }
            return source == number
        }
        if !isHeld { release(resource) }
    }

    /// Closes a source and releases it. If there is no resource yet, ``hold(_:of:)`` releases that.
    @usableFromInline
    func close(_ number: Int32) {
        let resource = mutex.withLock { () -> (any Disposable)? in
            guard source == number else { return nil }
            source += 1
            return self.resource.take()
        }
        if let resource { release(resource) }
    }

    // MARK: Ending

    /// Ends with an event, which the caller delivers. Returns false if it has ended before.
    @inlinable
    func end() -> Bool {
        mutex.withLock {
            guard state == .active else { return false }
            state = .delivered
            return true
        }
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

    @inlinable
    func release(_ resource: any Disposable) {
        if type(of: resource) != NopDisposable.self {
            Release.of(resource, byUser: mutex.withLock { isDisposedByUser } || owner?.isSilent ?? false)
        }
        release()
    }

    /// Adds something to be released before `onDisposed`.
    @inlinable
    func awaitRelease() { mutex.withLock { unreleased += 1 } }

    @inlinable
    func release() {
        let isReleased = mutex.withLock {
            unreleased -= 1
            return isNowReleased()
        }
        if isReleased { tell() }
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

    /// Remembers a place in a bag, to leave it at the end. Returns false if this is over.
    func join(_ membership: DisposeBag.Membership) -> Bool {
        mutex.withLock {
            guard state != .over else { return false }
            memberships.append(membership)
            return true
        }
    }
}

/// What a subscription is a branch of: the parts of a `zip`, or the run of a `share`.
@usableFromInline
protocol Owner: AnyObject, Sendable {
    /// Whether the whole has ended, so that no branch goes on.
    var isOver: Bool { get }
    /// Whether the user has disposed all that wait for the branch.
    var isSilent: Bool { get }
    /// Called once for each branch, when that has ended and is released.
    func branchReleased()
}

/// What a subscription does next.
@usableFromInline
struct Next {
    @usableFromInline
    enum Kind {
        /// The start of a source.
        case source
        /// The rest of a call that had to wait because the stack was deep.
        case rest
        /// At the end of a branch: what follows in the chain that has got the event.
        case chain
    }

    @usableFromInline let kind: Kind
    @usableFromInline let start: (Subscription) -> Void

    @inlinable
    init(_ kind: Kind, start: @escaping (Subscription) -> Void) { (self.kind, self.start) = (kind, start) }
}
