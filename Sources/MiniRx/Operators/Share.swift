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
        return Single { chain, observer in sharing.join(chain, observer) }
    }
}

/// The runs of a shared source, one at a time.
@usableFromInline
final class Sharing<Element: Sendable>: @unchecked Sendable {  // The variables are used under the mutex.
    @usableFromInline let source: Single<Element>
    @exclusivity(unchecked) @usableFromInline var current: Run?

    @inlinable
    init(source: Single<Element>) { self.source = source }

    @inlinable var mutex: Lock { .shared(by: self) }

    @inlinable
    func join(_ chain: Subscription, _ observer: @escaping Single<Element>.Observer) {
        guard let number = chain.open(observer) else { return }
        let member = Run.Member(chain, number)
        chain.awaitRelease()
        let (run, isFirst) = mutex.withLock {
            let run = current ?? Run(mutex)
            defer { current = run }
            run.members.append(member)
            run.staying += 1
            return (run, current == nil)
        }
        chain.hold(Place(sharing: self, run: run, member: member), of: number)
        if isFirst { start(run) }
    }

    @inlinable
    func start(_ run: Run) {
        let branch = Subscription(owner: run, mutex: .shared(by: run))
        let isTooLate = mutex.withLock {
            if !run.isClosed { run.branch = branch }
            return run.isClosed
        }
        guard !isTooLate else { return run.branchReleased() }
        source.run(branch) { branch, event in
            if branch.end() { self.deliver(event, of: run, branch) }
        }
        branch.proceed()
    }

    @inlinable
    func deliver(_ event: SingleEvent<Element>, of run: Run, _ branch: Subscription) {
        let members = mutex.withLock { close(run) ? run.members : [] }
        let waiting = members.filter { $0.chain.deliver(event, from: $0.number) }
        branch.next = Next(.chain) { _ in
            // Those that have ended are told so before others start their next source.
            var going: [Subscription] = []
            for chain in waiting.map(\.chain) {
                if chain.isDisposed { chain.proceed() } else { going.append(chain) }
            }
            for chain in going { chain.proceed() }
        }
    }

    /// Closes the run, under the mutex. Returns false if it is closed already.
    @inlinable
    func close(_ run: Run) -> Bool {
        if current === run { current = nil }
        defer { (run.isClosed, run.branch) = (true, nil) }
        return !run.isClosed
    }

    @usableFromInline
    func leave(_ run: Run, _ member: Run.Member) {
        // The members that have left are let go outside of the mutex.
        let (isReleased, last, _) = mutex.withLock { () -> (Bool, Subscription?, [Run.Member]) in
            guard !run.isClosed else { return (false, nil, []) }
            run.staying -= 1
            guard run.staying > 0 else {
                let branch = run.branch
                return (false, close(run) ? branch : nil, [])
            }
            member.hasLeft = true
            let members = run.members
            if members.count > 2 * run.staying + 16 { run.members.removeAll(where: \.hasLeft) }
            return (true, nil, members)
        }
        last?.dispose()
        if isReleased { member.chain.release() }
    }

    /// The place of a member in a run, as the resource of the member's chain.
    @usableFromInline
    struct Place: Disposable {
        @usableFromInline let sharing: Sharing
        @usableFromInline let run: Run
        @usableFromInline let member: Run.Member

        @inlinable
        init(sharing: Sharing, run: Run, member: Run.Member) { (self.sharing, self.run, self.member) = (sharing, run, member) }

        @usableFromInline
        func dispose() { sharing.leave(run, member) }
    }
}

/// One subscription to a shared source. The mutex of ``Sharing`` guards its variables and those of the members.
@usableFromInline
final class Run: Owner, @unchecked Sendable {
    @usableFromInline
    final class Member: @unchecked Sendable {
        @usableFromInline let chain: Subscription
        @usableFromInline let number: Int32
        @exclusivity(unchecked) @usableFromInline var hasLeft = false

        @inlinable
        init(_ chain: Subscription, _ number: Int32) { (self.chain, self.number) = (chain, number) }
    }

    @usableFromInline let mutex: Lock
    /// The members in the order in which they joined. Some may have left.
    @exclusivity(unchecked) @usableFromInline var members: [Member] = []
    @exclusivity(unchecked) @usableFromInline var staying = 0
    /// Whether the event is there, or the last member has left. Then nobody joins or leaves, and all are released with the source.
    @exclusivity(unchecked) @usableFromInline var isClosed = false
    @exclusivity(unchecked) @usableFromInline var branch: Subscription?

    @inlinable
    init(_ mutex: Lock) { self.mutex = mutex }

    @usableFromInline var isOver: Bool { false }
    @usableFromInline var isSilent: Bool { mutex.withLock { members }.allSatisfy(\.chain.isSilent) }

    @usableFromInline
    func branchReleased() {
        for member in mutex.withLock({ members }) where !member.hasLeft { member.chain.release() }
    }
}
