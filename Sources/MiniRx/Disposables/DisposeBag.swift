/// Disposes its contents when it is released, in the order in which they were inserted. Keep a bag in the object that uses the subscriptions.
///
/// A subscription leaves the bag when it ends, so a bag that lives long does not grow. A disposable of another kind stays until the bag is
/// released. A disposable that is inserted while the bag is released is disposed at once. You may use a bag on any thread.
public final class DisposeBag: Sendable {
    private struct State {
        /// By the number of the insertion. After the release of the bag, it is `nil`.
        var held: [Int: any Disposable]? = [:]
        var count = 0
    }

    private let state = Locked(State())

    /// Creates an empty bag.
    public init() {}

    deinit {
        let held = state.withLock { $0.held.take() } ?? [:]
        for (_, disposable) in held.sorted(by: { $0.key < $1.key }) { disposable.dispose() }
    }

    /// Keeps `disposable` until the bag is released. A subscription leaves when it ends.
    public func insert(_ disposable: any Disposable) {
        let number = state.withLock { state in
            state.count += 1
            state.held?[state.count] = disposable
            return state.held == nil ? nil : state.count
        }
        guard let number else { return disposable.dispose() }
        (disposable as? Subscription)?.onRelease { [state] in
            // What is removed is let go outside of the lock.
            _ = state.withLock { state in
                defer { if state.held?.isEmpty == true { state.held = [:] } }
                return state.held?.removeValue(forKey: number)
            }
        }
    }
}

extension Disposable {
    /// Adds this to `bag`, which disposes it when the bag is released.
    public func disposed(by bag: DisposeBag) { bag.insert(self) }
}
