/// Disposes its contents when it is released, in the order in which they were inserted. Keep a bag in the object that uses the subscriptions.
///
/// A subscription leaves the bag when it ends, so a bag that lives long does not grow. A disposable of another kind stays until the bag is
/// released. A disposable that is inserted while the bag is released is disposed at once. You may use a bag on any thread.
public final class DisposeBag: Sendable {
    private let contents = Contents()

    /// Creates an empty bag.
    public init() {}

    deinit { contents.dispose() }

    /// Keeps `disposable` until the bag is released. A subscription leaves when it ends.
    public func insert(_ disposable: any Disposable) { contents.insert(disposable) }

    /// Keeps each of `disposables` until the bag is released. A subscription leaves when it ends.
    public func insert(_ disposables: any Disposable...) { insert(disposables) }

    /// Keeps each of `disposables` until the bag is released. A subscription leaves when it ends.
    public func insert(_ disposables: [any Disposable]) { disposables.forEach(contents.insert) }
}

extension Disposable {
    /// Adds this to `bag`, which disposes it when the bag is released.
    public func disposed(by bag: DisposeBag) { bag.insert(self) }
}

extension DisposeBag {
    /// A subscription's place in a bag.
    @usableFromInline
    struct Membership: Sendable {
        fileprivate let contents: Contents
        fileprivate let slot: Int

        @usableFromInline
        func leave() { contents.remove(at: slot) }
    }

    /// The disposables in slots, with the number of their insertion. Free slots are used again.
    fileprivate struct Contents: Sendable {
        private struct State {
            var slots: [(number: Int, disposable: any Disposable)?] = []
            var free: [Int] = []
            var count = 0
            var isDisposed = false

            mutating func insert(_ disposable: any Disposable) -> Int? {
                guard !isDisposed else { return nil }
                count += 1
                if let slot = free.popLast() {
                    slots[slot] = (count, disposable)
                    return slot
                }
                slots.append((count, disposable))
                return slots.count - 1
            }
        }

        private let state = Locked(State())

        func insert(_ disposable: any Disposable) {
            let subscription = type(of: disposable) == Subscription.self ? disposable as? Subscription : nil
            // One that has ended as it began has no place in a bag, nor has one that does nothing.
            guard subscription?.hasGone != true, type(of: disposable) != NopDisposable.self else { return }
            guard let slot = state.withLock({ $0.insert(disposable) }) else { return disposable.dispose() }
            if let subscription, !subscription.join(Membership(contents: self, slot: slot)) {
                remove(at: slot)
            }
        }

        func remove(at slot: Int) {
            // What is removed is let go outside of the lock.
            _ = state.withLock { state -> (Int, any Disposable)? in
                guard !state.isDisposed else { return nil }
                let removed = state.slots[slot].take()
                state.free.append(slot)
                // An empty bag does not keep the memory that it needed when it was full.
                if state.free.count == state.slots.count, state.free.count > 64 { (state.slots, state.free) = ([], []) }
                return removed
            }
        }

        func dispose() {
            let slots = state.withLock { state in
                state.isDisposed = true
                defer { (state.slots, state.free) = ([], []) }
                return state.slots
            }
            for held in slots.compactMap({ $0 }).sorted(by: { $0.number < $1.number }) { held.disposable.dispose() }
        }
    }
}
