/// A subscription with branches: chains inside of a chain, with ends of their own.
///
/// The first of a chain is the subscription of the chain, too, as with an ``Emitter``. One that comes later is attached to that.
@usableFromInline
class Fork: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// What this is attached to.
    @usableFromInline final let chain: Subscription?
    /// Whether no branch is to go on: the event of the whole has come, or the end.
    @exclusivity(unchecked) @usableFromInline final var isShut = false
    @exclusivity(unchecked) @usableFromInline final var branches: [Subscription] = []
    /// The start of the branches, and those that are not released.
    @exclusivity(unchecked) @usableFromInline final var unfinished = 1
    /// The latest branch of the part that is being started. The thread that starts the parts alone touches it.
    @exclusivity(unchecked) @usableFromInline final var starting: Subscription?

    @inlinable
    init(in context: Context) {
        chain = context.subscription
        super.init(owner: context.owner)
        unreleased = 1
    }

    @inlinable final var isOver: Bool { mutex.withLock { isShut } }

    @usableFromInline
    override var hasBeenDisposed: Bool { chain?.hasBeenDisposed ?? super.hasBeenDisposed }

    /// Takes a branch, which is to end when this does. False if it is too late for that.
    ///
    /// Of those that come while one part is started, all but the last have ended, and are forgotten.
    @usableFromInline
    final func adopt(_ branch: Subscription) -> Bool {
        if let starting { drop(starting) }
        let isAdopted = mutex.withLock {
            guard !isShut else { return false }
            branches.append(branch)
            unfinished += 1
            return true
        }
        starting = isAdopted ? branch : nil
        return isAdopted
    }

    /// A part has been started, of which `branch` is left, if any.
    @inlinable
    final func hasStarted(_ branch: Subscription?, onReleased: Action?) {
        let adopted = starting.take()
        guard let branch else {
            if let adopted { drop(adopted) }
            onReleased?()
            return
        }
        if adopted !== branch { mutex.withLock { unfinished += 1 } }
        branch.whenReleased(
            Action {
                onReleased?()
                self.finishOne()
            })
    }

    @usableFromInline
    final func drop(_ branch: Subscription) {
        mutex.withLock {
            unfinished -= 1
            if branches.last === branch { branches.removeLast() }
        }
    }

    @usableFromInline
    final func finishOne() {
        let isReleased = mutex.withLock {
            unfinished -= 1
            return unfinished == 0 && isShut
        }
        if isReleased { (chain ?? self).release() }
    }
}
