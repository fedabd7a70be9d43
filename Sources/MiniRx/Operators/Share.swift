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

@usableFromInline
final class Sharing<Element: Sendable>: Sendable {
    @usableFromInline
    struct Member {
        @usableFromInline let chain: Subscription
        @usableFromInline let observer: Single<Element>.Observer

        @inlinable
        init(_ chain: Subscription, _ observer: @escaping Single<Element>.Observer) { (self.chain, self.observer) = (chain, observer) }
    }

    /// One subscription to the source.
    @usableFromInline
    final class Run: Subscription, @unchecked Sendable {  // The variables are touched under the lock of `Sharing`.
        /// Who gets the event, by the order of their coming.
        @exclusivity(unchecked) @usableFromInline var members: [Int: Member] = [:]
        @exclusivity(unchecked) @usableFromInline var count = 0
        /// Whether the event is there or the last has left. Then nobody joins or leaves, and all are released when the source is.
        @exclusivity(unchecked) @usableFromInline var isClosed = false

        @inlinable
        init() { super.init(owner: nil) }

        @inlinable var inOrder: [Member] { members.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// A place among those who share, as the source of a chain.
    @usableFromInline
    final class Membership: Source, @unchecked Sendable {  // The variables are touched under the lock of `Sharing`.
        @usableFromInline let sharing: Sharing
        @exclusivity(unchecked) @usableFromInline var place: (run: Run, number: Int)?
        @exclusivity(unchecked) @usableFromInline var hasLeft = false

        @inlinable
        init(_ sharing: Sharing) { self.sharing = sharing }

        @usableFromInline
        func cancel(in chain: Subscription) { sharing.leave(self, chain) }
    }

    @usableFromInline let source: Single<Element>
    @usableFromInline let current = Locked<Run?>(nil)

    @inlinable
    init(source: Single<Element>) { self.source = source }

    @inlinable
    func join(_ context: inout Context, _ observer: @escaping Single<Element>.Observer) -> Next? {
        // Attached first: who leaves while joining is not left behind in a run.
        let membership = Membership(self)
        guard let chain = context.attach(membership) else { return nil }
        let joined = current.withLock { current -> Run? in
            guard !membership.hasLeft else { return nil }
            let run = current ?? Run()
            current = run
            membership.place = (run, run.count)
            run.members[run.count] = Member(chain, observer)
            run.count += 1
            return run.count == 1 ? run : nil
        }
        // Who has come first starts it, for whoever is there by now.
        guard let run = joined else { return nil }
        var context = Context(run)
        let next = source.run(&context) { context, event in context.end() ? self.deliver(event, of: run) : nil }
        run.whenReleased(Action { self.release(run) })
        return context.unwind(next)
    }

    @inlinable
    func deliver(_ event: SingleEvent<Element>, of run: Run) -> Next? {
        let members = current.withLock { current in
            if current === run { current = nil }
            defer { run.isClosed = true }
            return run.isClosed ? [] : run.inOrder
        }
        let nexts = members.compactMap { member in
            var context = Context(member.chain, owner: member.chain.owner, startsLeft: 0)
            let next = member.observer(&context, event)
            if context.hasEnded { member.chain.release() }
            return next
        }
        if members.allSatisfy(\.chain.hasBeenDisposed) { run.cancel(byUser: true) }
        guard nexts.count > 1 else { return nexts.first }
        // It is of no chain, so that it starts when all that this call is inside of is released.
        return Next(of: Context(Subscription(owner: nil))) { _ in
            for next in nexts { Next.run(next) }
            return nil
        }
    }

    /// The source is released, and so are the chains that have waited for it.
    @inlinable
    func release(_ run: Run) {
        let members = current.withLock { _ in
            defer { run.members = [:] }
            return run.inOrder
        }
        for member in members { member.chain.release() }
    }

    @usableFromInline
    func leave(_ membership: Membership, _ chain: Subscription) {
        var left: Member?
        let (isReleased, unwanted) = current.withLock { current -> (Bool, Subscription?) in
            membership.hasLeft = true
            guard let (run, number) = membership.place else { return (true, nil) }
            guard !run.isClosed else { return (false, nil) }
            guard run.members.count == 1 else {
                left = run.members.removeValue(forKey: number)
                return (true, nil)
            }
            run.isClosed = true
            if current === run { current = nil }
            return (false, run)
        }
        _ = consume left
        unwanted?.cancel(byUser: chain.hasBeenDisposed)
        if isReleased { chain.release() }
    }
}
