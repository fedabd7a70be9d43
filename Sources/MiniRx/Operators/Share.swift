extension Single {
    /// Shares one run of the source among all subscriptions while it is running.
    ///
    /// When the last of them is disposed, the run is cancelled. A subscription after its end starts a new run.
    ///
    /// ![Two subscriptions get the value of one run. A third one, later, starts another.](share)
    @inlinable
    public func share() -> Single {
        if case .event = content { return self }
        let sharing = Sharing(source: self)
        return Single { context, observer in sharing.join(&context, observer) }
    }
}

/// The runs of a shared source, one at a time. Its mutex also guards the variables of its members and runs.
@usableFromInline
final class Sharing<Element: Sendable>: @unchecked Sendable {
    /// The place of one chain in a run, as the source of that chain.
    @usableFromInline
    final class Member: Source, @unchecked Sendable {
        @usableFromInline let sharing: Sharing
        @usableFromInline let chain: Subscription
        /// The chain's observer, until the chain leaves.
        @exclusivity(unchecked) @usableFromInline var observer: Receiver<Element>?
        @exclusivity(unchecked) @usableFromInline var run: Run?
        @exclusivity(unchecked) @usableFromInline var hasLeft = false

        @inlinable
        init(of sharing: Sharing, _ chain: Subscription, _ observer: @escaping Single<Element>.Observer) {
            (self.sharing, self.chain, self.observer) = (sharing, chain, Receiver(observer))
        }

        @usableFromInline
        func cancel(in chain: Subscription) { sharing.leave(self) }

        /// Delivers the event. The run is closed, so nobody else uses the observer.
        @inlinable
        func receive(_ event: SingleEvent<Element>) -> Next? {
            guard let observer else { return nil }
            var context = Context(chain, owner: chain.owner, startsLeft: 0)
            let next = observer.receive(&context, event)
            if context.hasEnded { chain.release() }
            return next
        }
    }

    /// One subscription to the source.
    @usableFromInline
    final class Run: Subscription, @unchecked Sendable {
        /// The members in the order in which they joined. Some may have left.
        @exclusivity(unchecked) @usableFromInline var members: [Member] = []
        @exclusivity(unchecked) @usableFromInline var staying = 0
        /// Whether the event is there, or the last member has left. Then nobody joins or leaves, and all are released with the source.
        @exclusivity(unchecked) @usableFromInline var isClosed = false

        @inlinable
        init() { super.init(owner: nil) }
    }

    @usableFromInline let source: Single<Element>
    @exclusivity(unchecked) @usableFromInline var current: Run?

    @inlinable
    init(source: Single<Element>) { self.source = source }

    @inlinable var mutex: Lock { .shared(by: self) }

    @inlinable
    func join(_ context: inout Context, _ observer: @escaping Single<Element>.Observer) -> Next? {
        guard let chain = context.subscriptionForSource() else { return nil }
        let member = Member(of: self, chain, observer)
        // Attached first, so that a member that leaves while it joins does not stay in a run.
        guard chain.attach(member) else { return nil }
        let started = mutex.withLock { () -> Run? in
            guard !member.hasLeft else { return nil }
            let run = current ?? Run()
            let isFirst = current == nil
            current = run
            member.run = run
            run.members.append(member)
            run.staying += 1
            return isFirst ? run : nil
        }
        // The first member starts the run.
        guard let run = started else { return nil }
        var context = Context(run)
        let next = source.run(&context) { context, event in context.end() ? self.deliver(event, of: run) : nil }
        run.whenReleased(Action { self.release(run) })
        return context.unwind(next)
    }

    @inlinable
    func deliver(_ event: SingleEvent<Element>, of run: Run) -> Next? {
        let members = mutex.withLock { close(run) ? run.members : [] }
        let nexts = members.compactMap { $0.receive(event) }
        if members.allSatisfy({ $0.observer == nil || $0.chain.hasBeenDisposed }) { run.cancel(byUser: true) }
        guard nexts.count > 1 else { return nexts.first }
        // It belongs to no chain, so it starts when everything around this call is released.
        return Next(of: Context(Subscription(owner: nil))) { _ in
            for next in nexts { Next.run(next) }
            return nil
        }
    }

    /// Closes the run, under the mutex. Returns false if it is closed already.
    @inlinable
    func close(_ run: Run) -> Bool {
        if current === run { current = nil }
        defer { run.isClosed = true }
        return !run.isClosed
    }

    /// Call this when the source is released. It releases the chains that wait for that.
    @inlinable
    func release(_ run: Run) {
        let members = mutex.withLock {
            defer { run.members = [] }
            return run.members
        }
        for member in members where member.observer.take() != nil { member.chain.release() }
    }

    @usableFromInline
    func leave(_ member: Member) {
        // The observer and the members that have left are let go outside of the mutex.
        let (isReleased, last, _) = mutex.withLock { () -> (Bool, Run?, (Receiver<Element>?, [Member])?) in
            member.hasLeft = true
            guard let run = member.run else { return (true, nil, nil) }
            guard !run.isClosed else { return (false, nil, nil) }
            run.staying -= 1
            guard run.staying > 0 else { return (false, close(run) ? run : nil, nil) }
            let members = run.members
            if members.count > 2 * run.staying + 16 { run.members.removeAll(where: \.hasLeft) }
            return (true, nil, (member.observer.take(), members))
        }
        last?.cancel(byUser: member.chain.hasBeenDisposed)
        if isReleased { member.chain.release() }
    }
}
