/// A subscription that waits for its branches, which are chains inside the chain.
///
/// Like an ``Emitter``, the first fork of a chain is the subscription itself. Later ones are attached to it.
@usableFromInline
class Fork: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// The subscription that this is attached to. `nil` if this is the subscription.
    @usableFromInline final let chain: Subscription?
    /// Called when all branches are released. Only the thread that releases the last branch uses it.
    @exclusivity(unchecked) @usableFromInline final var onReleased: Action?
    /// After this is shut, only the thread that has shut it uses them, without the mutex.
    @exclusivity(unchecked) @usableFromInline final var branches: [Subscription] = []
    /// The number of branches that are not released. The start of the branches counts as one until it is over.
    @exclusivity(unchecked) @usableFromInline final var unfinished = 1
    /// Whether the whole has its event, or has ended. Then no branch goes on.
    @exclusivity(unchecked) @usableFromInline final var isShut = false

    @inlinable
    init(in context: Context, onReleased: Action?) {
        (chain, self.onReleased) = (context.subscription, onReleased)
        super.init(owner: context.ownerOfNew)
        unreleased = 1
    }

    @inlinable final var isOver: Bool { mutex.withLock { isShut } }

    @usableFromInline
    override var hasBeenDisposed: Bool { chain?.hasBeenDisposed ?? super.hasBeenDisposed }

    /// Adds a branch to wait for, and to cancel at the end. If this returns false, it is too late, and the caller cancels or drops it.
    @usableFromInline
    final func adopt(_ branch: Subscription) -> Bool {
        mutex.withLock {
            unfinished += 1
            if !isShut { branches.append(branch) }
            return !isShut
        }
    }

    /// Forgets the latest branch, which has not started or has ended at once.
    @usableFromInline
    final func drop(_ branch: Subscription) {
        mutex.withLock {
            unfinished -= 1
            if !isShut, branches.last === branch { branches.removeLast() }
        }
    }

    /// Call this when the start of the branches is over, and when one of them is released.
    @usableFromInline
    final func finishOne() {
        let isReleased = mutex.withLock {
            unfinished -= 1
            return unfinished == 0 && isShut
        }
        if isReleased { branchesReleased() }
    }

    /// Call this on the thread that has shut this.
    @usableFromInline
    final func cancelBranches() {
        for branch in branches { branch.cancel() }
        branches = []
    }

    @usableFromInline
    final func branchesReleased() {
        onReleased.take()?()
        (chain ?? self).release()
    }
}
