/// Several branches that make one event together, for `zip`, `timeout` and `do(onDispose:)`. That event ends them all.
@usableFromInline
final class Parts: Owner, Disposable, @unchecked Sendable {  // The variables are used under the mutex.
    @usableFromInline let chain: Subscription
    /// The number of the parts as a source of the chain. The branches use it, which start later.
    @exclusivity(unchecked) @usableFromInline var number: Int32 = 0
    /// Each branch knows the one after it. An array would be another allocation.
    @exclusivity(unchecked) @usableFromInline var first: Subscription?
    @exclusivity(unchecked) @usableFromInline var last: Subscription?
    /// The number of branches that have no event.
    @exclusivity(unchecked) @usableFromInline var unfinished: Int32 = 0
    /// Whether the whole has its event, or has ended.
    @exclusivity(unchecked) @usableFromInline var isShut = false
    /// The number of branches that are not released. The start of the branches counts as one until it is over.
    @exclusivity(unchecked) @usableFromInline var unreleased: Int32 = 1

    /// Runs `start`, which starts the branches, as a source of `chain`.
    @inlinable @inline(__always)
    static func run<Whole: Sendable>(
        in chain: Subscription, _ observer: @escaping Single<Whole>.Observer, start: (Parts) -> Void
    ) {
        let parts = Parts(chain)
        guard let number = chain.open(observer, holding: parts) else { return }
        parts.number = number
        start(parts)
        parts.branchReleased()
    }

    @inlinable
    init(_ chain: Subscription) { self.chain = chain }

    /// That of the chain, and of all branches.
    @inlinable var mutex: Lock { chain.mutex }

    @inlinable var isOver: Bool { mutex.withLock { isShut } || chain.hasEnded }
    @inlinable var isSilent: Bool { chain.isSilent }

    /// Starts a branch, unless all have ended. When it has its event, `whole` returns the event of the whole, if that is there.
    ///
    /// `whole` is called under the mutex, so it must not release any object of the user.
    @inlinable @inline(__always)
    func start<Element: Sendable, Whole: Sendable>(
        _ single: Single<Element>, _ whole: @escaping @Sendable (SingleEvent<Element>) -> SingleEvent<Whole>?
    ) {
        let branch = Subscription(owner: self, mutex: mutex)
        let isTooLate = mutex.withLock {
            guard !isShut else { return true }
            // Those that have events cannot end this one.
            branch.isUnknown = chain.isUnknown && unfinished == 0
            if let last { last.sibling = branch } else { first = branch }
            last = branch
            (unreleased, unfinished) = (unreleased + 1, unfinished + 1)
            return false
        }
        guard !isTooLate else { return }
        single.run(branch) { branch, event in
            self.finish(branch) { whole(event) }
        }
        branch.proceed()
    }

    @inlinable @inline(__always)
    func finish<Whole: Sendable>(_ branch: Subscription, _ whole: () -> SingleEvent<Whole>?) {
        let ended = mutex.withLock { () -> SingleEvent<Whole>? in
            guard branch.endNow() else { return nil }
            unfinished -= 1
            guard !isShut, let event = whole() else { return nil }
            isShut = true
            return event
        }
        guard let event = ended else { return }
        if chain.deliver(event, from: number) { branch.next = Next(.chain) { [chain] _ in chain.proceed() } }
    }

    @usableFromInline
    func dispose() {
        let (first, last, unfinished) = mutex.withLock {
            isShut = true
            return (self.first.take(), self.last.take(), self.unfinished)
        }
        var next = first
        while let branch = next {
            next = branch.sibling.take()
            if unfinished > 0 { branch.dispose() }
        }
        withExtendedLifetime(last) {}
    }

    @usableFromInline
    func branchReleased() { if mutex.withLock({ branchReleasedNow() }) { chain.tell() } }

    /// The same under the mutex. Returns whether to tell the chain.
    @usableFromInline
    func branchReleasedNow() -> Bool {
        unreleased -= 1
        return unreleased == 0 && chain.releaseNow()
    }
}
