/// The parts that make one event: for `zip`, `timeout` and `do(onDispose:)`. The first `finish` ends them all.
@usableFromInline
final class Parts<Whole: Sendable>: Fork, @unchecked Sendable {  // As in ``Subscription``.
    /// Until the event of the whole, or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Whole>?
    /// What the event of the whole has led to that a part gave as it was started. The thread that starts them alone touches it.
    @exclusivity(unchecked) @usableFromInline var ofStart: Context?

    @inlinable
    init(in context: Context, _ observer: @escaping Single<Whole>.Observer) {
        self.observer = Receiver(observer)
        super.init(in: context)
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
    ///
    /// A part that joins a `share` may give what is to be started in another chain: that is started here.
    @inlinable
    func start<Element>(_ single: Single<Element>, onReleased: Action? = nil, _ observer: @escaping Single<Element>.Observer) -> Next? {
        var context = Context(owner: self)
        let first = single.run(&context, observer)
        let next = context.unwind(first)
        hasStarted(context.subscription, onReleased: onReleased)
        if let next, !isOver {
            Next.run(next)
            return nil
        }
        return next
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

    /// Under the mutex.
    @inlinable
    func shut() -> (observer: Receiver<Whole>, branches: [Subscription], unfinished: Int)? {
        guard let observer else { return nil }
        isShut = true
        defer { (self.observer, branches) = (nil, []) }
        return (observer, branches, unfinished)
    }
}
