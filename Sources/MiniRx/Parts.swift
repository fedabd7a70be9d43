/// The parts that make one event: for `zip`, `timeout` and `do(onDispose:)`. The first that `finish` returns an event for ends them all.
@usableFromInline
final class Parts<Gathered: Values, Whole: Sendable>: Fork, @unchecked Sendable {  // As in ``Subscription``.
    // Until the event of the whole, or the end. Whoever has shut this takes them, without the mutex.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Whole>?
    @exclusivity(unchecked) @usableFromInline var values: Gathered
    /// What the event of the whole has led to, if a part gave it as it was started. Only the thread that starts the parts touches it.
    @exclusivity(unchecked) @usableFromInline var ofStart: Context?

    @inlinable
    init(in context: Context, _ values: Gathered = Gathered(), onReleased: Action? = nil, _ observer: @escaping Single<Whole>.Observer) {
        (self.observer, self.values) = (Receiver(observer), values)
        super.init(in: context, onReleased: onReleased)
    }

    /// Runs `start`, which starts the parts. Returns what is to be started next.
    @inlinable
    func run(in context: inout Context, _ start: () -> Next?) -> Next? {
        guard context.admits(self) else { return nil }
        let next = start()
        if let ofStart {
            onReleased.take()?()
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
    func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) -> Next? {
        var context = Context(owner: self)
        let first = single.run(&context, observer)
        let next = context.unwind(first)
        guard let next, !isOver else { return next }
        Next.run(next)
        return nil
    }

    /// Ends a part. If `whole` returns an event for it, this is delivered, and all parts are ended. Later calls do nothing.
    ///
    /// `whole` is called under the mutex, and must not release anything of the user's.
    @inlinable
    func finish(_ part: inout Context, _ whole: (inout Gathered) -> SingleEvent<Whole>?) -> Next? {
        guard part.end() else { return nil }
        var isLast = false
        let event = mutex.withLock { () -> SingleEvent<Whole>? in
            guard !isShut, let event = whole(&values) else { return nil }
            isShut = true
            isLast = unfinished == 1
            return event
        }
        guard let event, let observer = observer.take() else { return nil }
        values = Gathered()
        // Of the first parts of a chain that end as they are started nobody else knows yet: it is as if there were no subscription.
        let isUnknown = isLast && part.subscription == nil && chain == nil
        if isUnknown { owner?.drop(self) }
        let subscription = isUnknown ? nil : chain ?? self
        var context = Context(subscription, owner: (chain ?? self).owner, startsLeft: 0)
        let next = observer.receive(&context, event)
        cancelBranches()
        if isUnknown { ofStart = context } else if context.hasEnded { subscription?.release() }
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
    /// None.
    init()
}

/// For parts whose events are complete.
@usableFromInline
struct NoValues: Values {
    @inlinable
    init() {}
}
