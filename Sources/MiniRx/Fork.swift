/// A subscription that waits for its branches: chains inside of a chain, with ends of their own.
///
/// The first of a chain is the chain's subscription itself, as an ``Emitter`` is. One that comes later is attached to that.
@usableFromInline
class Fork: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// What this is attached to, if it came later.
    @usableFromInline final let chain: Subscription?
    /// Called once all branches are released, by whoever has released the last: there is no race for it.
    @exclusivity(unchecked) @usableFromInline final var onReleased: Action?
    /// Whoever has shut this takes them, without the mutex.
    @exclusivity(unchecked) @usableFromInline final var branches: [Subscription] = []
    /// The start of the branches, and the branches that are not released.
    @exclusivity(unchecked) @usableFromInline final var unfinished = 1
    /// Whether no branch is to go on: the event of the whole has come, or the end.
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

    /// Waits for a branch, and ends it when this ends. False if it is too late for that: then the caller cancels or drops it.
    @usableFromInline
    final func adopt(_ branch: Subscription) -> Bool {
        mutex.withLock {
            unfinished += 1
            if !isShut { branches.append(branch) }
            return !isShut
        }
    }

    /// Forgets the latest branch, which has not started, or has ended as it was started.
    @usableFromInline
    final func drop(_ branch: Subscription) {
        mutex.withLock {
            unfinished -= 1
            if !isShut, branches.last === branch { branches.removeLast() }
        }
    }

    /// The start of the branches is over, or one of them is released.
    @usableFromInline
    final func finishOne() {
        let isReleased = mutex.withLock {
            unfinished -= 1
            return unfinished == 0 && isShut
        }
        if isReleased { branchesReleased() }
    }

    /// Called by whoever has shut this.
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
