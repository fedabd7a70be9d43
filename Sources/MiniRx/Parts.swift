/// Several chains that make one event together, for `zip`, `timeout` and `do(onDispose:)`. That event ends them all.
@usableFromInline
final class Parts<Gathered: Values, Whole: Sendable>: Fork, @unchecked Sendable {  // As in ``Subscription``.
    // After this is shut, only the thread that has shut it uses these two, without the mutex.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Whole>?
    @exclusivity(unchecked) @usableFromInline var values: Gathered
    /// The state after the event of the whole, if that came while the parts were started. Only the thread that starts them uses it.
    @exclusivity(unchecked) @usableFromInline var ofStart: Context?

    @inlinable
    init(in context: Context, _ values: Gathered = Gathered(), onReleased: Action? = nil, _ observer: @escaping Single<Whole>.Observer) {
        (self.observer, self.values) = (Receiver(observer), values)
        super.init(in: context, onReleased: onReleased)
    }

    /// Runs `start`, which starts the parts, and returns the next start.
    @inlinable
    func run(in context: inout Context, _ start: () -> Next?) -> Next? {
        guard context.admits(self) else { return nil }
        let next = start()
        if let event = ofStart.take() {
            onReleased.take()?()
            context.subscription = event.subscription
            if event.hasEnded { event.subscription?.release() }
        } else {
            context.subscription = chain ?? self
            finishOne()
        }
        return next
    }

    /// Starts a part, unless all have ended. If it returns a next start, the whole has its event.
    ///
    /// A part that joins a `share` may return a next start of another chain. That one is started here.
    @inlinable
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) -> Next? {
        var context = Context(owner: self)
        let first = single.run(&context, observer)
        let next = context.unwind(first)
        guard let next, !isOver else { return next }
        Next.run(next)
        return nil
    }

    /// Ends a part. If `whole` returns an event, delivers it and ends all parts. Later calls do nothing.
    ///
    /// `whole` is called under the mutex, so it must not release any object of the user.
    @inlinable
    func finish(_ part: inout Context, _ whole: (inout Gathered) -> SingleEvent<Whole>?) -> Next? {
        guard part.end() else { return nil }
        let ended = mutex.withLock { () -> (event: SingleEvent<Whole>, isLast: Bool)? in
            guard !isShut, let event = whole(&values) else { return nil }
            isShut = true
            return (event, unfinished == 1)
        }
        guard let (event, isLast) = ended, let observer = observer.take() else { return nil }
        values = Gathered()
        // If these are the first parts of a chain, and end while they are started, nobody else knows them yet. Then this works as if
        // there were no subscription.
        guard !isLast || part.subscription != nil || chain != nil else {
            owner?.drop(self)
            var context = Context(owner: owner, startsLeft: 0)
            defer { ofStart = context }
            return observer.receive(&context, event)
        }
        let subscription = chain ?? self
        var context = Context(subscription, owner: subscription.owner, startsLeft: 0)
        let next = observer.receive(&context, event)
        cancelBranches()
        if context.hasEnded { subscription.release() }
        return next
    }

    @usableFromInline
    override func cancel(in subscription: Subscription) {
        let (isFirst, isReleased) = mutex.withLock {
            defer { isShut = true }
            return (!isShut, unfinished == 0)
        }
        guard isFirst else { return }
        (observer, values) = (nil, Gathered())
        cancelBranches()
        if isReleased { branchesReleased() }
    }
}

/// The values that parts have given so far.
@usableFromInline
protocol Values {
    /// Creates it without values.
    init()
}

/// For parts that give the event of the whole alone.
@usableFromInline
struct NoValues: Values {
    /// Thread Sanitizer takes an access to an empty variable for one to the whole object, and reports a race.
    @usableFromInline let padding: UInt8 = 0

    @inlinable
    init() {}
}
