/// Disposes the contents on release, in insertion order.
///
/// Keep a bag in the object that uses the subscriptions. A subscription leaves the bag at its teardown, so a long-lived bag does not grow.
/// Other disposables stay until the bag is released. You may use a bag on any thread.
public final class DisposeBag: Sendable {
    private struct State {
        /// The disposables, by sequence number.
        var held: [Int: any Disposable] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Creates an empty bag.
    public init() {}

    deinit {
        let held = state.withLock { exchange(&$0.held, with: [:]) }
        for (_, disposable) in held.sorted(by: { $0.key < $1.key }) { disposable.dispose() }
    }

    /// Keeps `disposable` until the bag is released, and a subscription until its teardown.
    public func insert(_ disposable: any Disposable) {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.held[state.lastNumber] = disposable
            return state.lastNumber
        }
        (disposable as? Subscription)?.onTeardown { [state] in
            // The removed subscription is released after unlocking.
            _ = state.withLock { state in
                // An emptied dictionary keeps its capacity; a new one has none.
                defer { if state.held.isEmpty { state.held = [:] } }
                return state.held.removeValue(forKey: number)
            }
        }
    }
}

extension Disposable {
    /// Adds this disposable to `bag`, to be disposed when the bag is released.
    public func disposed(by bag: DisposeBag) { bag.insert(self) }
}
