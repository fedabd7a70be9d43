/// Several branches that make one event together, for `zip`, `timeout` and `do(onDispose:)`. That event ends them all.
@usableFromInline
final class Parts: Owner, Disposable, @unchecked Sendable {  // The variables are used under the mutex.
    @usableFromInline let chain: Subscription
    @usableFromInline let number: Int32
    @exclusivity(unchecked) @usableFromInline var mutex = Lock.first
    @exclusivity(unchecked) @usableFromInline var branches: [Subscription] = []
    /// Whether the whole has its event, or has ended.
    @exclusivity(unchecked) @usableFromInline var isShut = false
    /// The number of branches that are not released. The start of the branches counts as one until it is over.
    @exclusivity(unchecked) @usableFromInline var unreleased: Int32 = 1

    /// Runs `start`, which starts `count` branches, as a source of `chain`.
    @inlinable
    static func run<Whole: Sendable>(
        _ count: Int, in chain: Subscription, _ observer: @escaping Single<Whole>.Observer, start: (Parts) -> Void
    ) {
        guard let number = chain.open(observer) else { return }
        let parts = Parts(chain, number)
        parts.branches.reserveCapacity(count)
        chain.awaitRelease()
        chain.hold(parts, of: number)
        start(parts)
        parts.branchReleased()
    }

    @inlinable
    init(_ chain: Subscription, _ number: Int32) {
        (self.chain, self.number) = (chain, number)
        mutex = .shared(by: self)
    }

    @inlinable var isOver: Bool { mutex.withLock { isShut } || chain.hasEnded }
    @inlinable var isSilent: Bool { chain.isSilent }

    /// Starts a branch, unless all have ended. When it has its event, `whole` returns the event of the whole, if that is there.
    ///
    /// `whole` is called under the mutex, so it must not release any object of the user.
    @inlinable
    func start<Element: Sendable, Whole: Sendable>(
        _ single: Single<Element>, onDisposed: Action? = nil,
        _ whole: @escaping @Sendable (SingleEvent<Element>) -> SingleEvent<Whole>?
    ) {
        let branch = Subscription(owner: self, onDisposed: onDisposed)
        let isTooLate = mutex.withLock {
            guard !isShut else { return true }
            branches.append(branch)
            unreleased += 1
            return false
        }
        guard !isTooLate else { return }
        single.run(branch) { branch, event in
            if branch.end() { self.finish(branch) { whole(event) } }
        }
        branch.proceed()
    }

    @inlinable
    func finish<Whole: Sendable>(_ branch: Subscription, _ whole: () -> SingleEvent<Whole>?) {
        let ended = mutex.withLock { () -> SingleEvent<Whole>? in
            guard !isShut, let event = whole() else { return nil }
            isShut = true
            return event
        }
        guard let event = ended else { return }
        if chain.deliver(event, from: number) { branch.next = Next(.chain) { [chain] _ in chain.proceed() } }
    }

    @usableFromInline
    func dispose() {
        let branches = mutex.withLock {
            isShut = true
            defer { self.branches = [] }
            return self.branches
        }
        for branch in branches { branch.dispose() }
    }

    @usableFromInline
    func branchReleased() {
        let isLast = mutex.withLock {
            unreleased -= 1
            return unreleased == 0
        }
        if isLast { chain.release() }
    }
}
