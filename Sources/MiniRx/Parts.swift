/// Parts of a chain with ends of their own: for `zip`, `timeout` and `do(onDispose:)`. The first `finish` ends them all.
///
/// The first of a chain are the subscription itself, as with an ``Emitter``. Those that come later are attached to that.
@usableFromInline
final class Parts<Whole: Sendable>: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// What these are attached to.
    @usableFromInline let chain: Subscription?
    /// Until the event of the whole, or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Whole>?
    @exclusivity(unchecked) @usableFromInline var branches: [Subscription] = []
    /// The start of the parts, and branches that are not released.
    @exclusivity(unchecked) @usableFromInline var unfinished = 1
    /// The branch of the part that is being started. The thread that starts the parts alone touches it.
    @exclusivity(unchecked) @usableFromInline var starting: Subscription?
    /// What the event of the whole has led to that a part gave as it was started. The thread that starts them alone touches it.
    @exclusivity(unchecked) @usableFromInline var ofStart: Context?

    @inlinable
    init(in context: Context, _ observer: @escaping Single<Whole>.Observer) {
        (chain, self.observer) = (context.subscription, Receiver(observer))
        super.init(owner: context.owner)
        unreleased = 1
    }

    /// Runs `start`, which starts the parts. Returns what is to be started next.
    @inlinable
    func run(in context: inout Context, _ start: () -> Next?) -> Next? {
        guard context.admits(self) else { return nil }
        let next = start()
        if let ofStart {
            context.subscription = ofStart.subscription
            if ofStart.hasEnded { ofStart.subscription?.release() }
        } else {
            context.subscription = chain ?? self
            finishOne()
        }
        return next
    }

    /// Starts a part, unless all have ended. If it returns something to be started next, the event of the whole has come.
    @inlinable
    func start<Element>(_ single: Single<Element>, onReleased: Action? = nil, _ observer: @escaping Single<Element>.Observer) -> Next? {
        var context = Context(owner: self)
        let first = single.run(&context, observer)
        let next = context.unwind(first)
        let branch = starting.take()
        if let open = context.subscription {
            open.whenReleased(Action { self.finishOne(onReleased) })
        } else {
            onReleased?()
            if let branch { drop(branch) }
        }
        return next
    }

    /// Of the branches that are adopted while a part is started, all but the last have ended, and are forgotten.
    @usableFromInline
    override func adopt(_ branch: Subscription) -> Bool {
        if let starting { drop(starting) }
        let isAdopted = mutex.withLock {
            guard observer != nil else { return false }
            branches.append(branch)
            unfinished += 1
            return true
        }
        starting = isAdopted ? branch : nil
        return isAdopted
    }

    @inlinable
    func drop(_ branch: Subscription) {
        mutex.withLock {
            unfinished -= 1
            if branches.last === branch { branches.removeLast() }
        }
    }

    /// Ends a part, delivers the event of the whole, and then ends every part. Later calls do nothing.
    @inlinable
    func finish(_ event: SingleEvent<Whole>, _ part: inout Context) -> Next? {
        part.end() ? finish(event, isStarting: part.subscription == nil) : nil
    }

    @inlinable
    func finish(_ event: SingleEvent<Whole>, isStarting: Bool) -> Next? {
        guard let closed = mutex.withLock({ shut() }) else { return nil }
        // Of the first parts of a chain nobody else knows yet: it is as if there were no subscription.
        let isUnknown = isStarting && chain == nil && closed.unfinished == (starting == nil ? 1 : 2)
        let subscription = isUnknown ? nil : chain ?? self
        var context = Context(subscription, owner: chain?.owner ?? owner, startsLeft: 0)
        let next = closed.observer.receive(&context, event)
        for branch in closed.branches { branch.cancel() }
        if isUnknown { ofStart = context } else if context.hasEnded { subscription?.release() }
        return next
    }

    @usableFromInline
    override func cancel(in subscription: Subscription) {
        guard let closed = mutex.withLock({ shut() }) else { return }
        for branch in closed.branches { branch.cancel() }
        if closed.unfinished == 0 { subscription.release() }
    }

    /// Whether no part is to go on.
    @usableFromInline
    override var isOver: Bool { mutex.withLock { observer == nil } }

    @usableFromInline
    override var hasBeenDisposed: Bool { chain?.hasBeenDisposed ?? super.hasBeenDisposed }

    /// Under the mutex.
    @inlinable
    func shut() -> (observer: Receiver<Whole>, branches: [Subscription], unfinished: Int)? {
        guard let observer else { return nil }
        defer { (self.observer, branches) = (nil, []) }
        return (observer, branches, unfinished)
    }

    @inlinable
    func finishOne(_ onReleased: Action? = nil) {
        onReleased?()
        let isReleased = mutex.withLock {
            unfinished -= 1
            return unfinished == 0 && observer == nil
        }
        if isReleased { (chain ?? self).release() }
    }
}
