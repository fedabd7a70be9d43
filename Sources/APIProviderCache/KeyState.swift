import APIProvider
import Dispatch
import MiniRx

/// The time between two calls of `removeAll`. Responses to an epoch's requests are not stored after the epoch.
final class StoreEpoch: Sendable {
    private struct WeakReference { weak var state: KeyState? }

    /// The running writes.
    let writes = DispatchGroup()
    private let references = Locked<[String: WeakReference]>([:])

    /// Returns the common state of the requests in flight for `key`, or a new state.
    func state(for key: String) -> KeyState {
        references.withLock { references in
            if let state = references[key]?.state { return state }
            let state = KeyState(key, self)
            references[key] = WeakReference(state: state)
            return state
        }
    }

    /// Keeps the responses to the requests in flight for `key` out of the store. Later requests share a new state.
    func invalidate(_ key: String) { references.withLock { $0.removeValue(forKey: key) }?.state?.invalidate() }

    fileprivate func removeReference(for key: String) {
        // By now, `key` may have a newer state. The local variable may be the last strong reference, and the state's `deinit` takes this
        // lock. So the state is returned, and released after unlocking.
        _ = references.withLock { references -> KeyState? in
            let newer = references[key]?.state
            if newer == nil { references[key] = nil }
            return newer
        }
    }
}

// MARK: - The requests for a key

/// The common state of a key's requests in flight, alive as long as one of them. After an invalidation, later requests get a new state.
final class KeyState: Sendable {
    private struct State {
        var isInvalidated = false
        var isValidating = false
        var isWriting = false
        var pendingWrites: [Action] = []

        mutating func nextWrite() -> Action? {
            isWriting = !pendingWrites.isEmpty
            return isWriting ? pendingWrites.removeFirst() : nil
        }
    }

    let key: String
    let epoch: StoreEpoch
    let validationCoalescer = CoalescingMiddleware()
    private let state = Locked(State())

    fileprivate init(_ key: String, _ epoch: StoreEpoch) { (self.key, self.epoch) = (key, epoch) }

    deinit { epoch.removeReference(for: key) }

    /// Whether an unsafe request may have changed the resource: responses in flight must not be stored.
    var isInvalidated: Bool { state.withLock(\.isInvalidated) }

    fileprivate func invalidate() { state.withLock { $0.isInvalidated = true } }

    /// Returns true for the first caller, which should validate in the background.
    func beginValidation() -> Bool {
        state.withLock { state in
            defer { state.isValidating = true }
            return !state.isValidating
        }
    }

    func endValidation() { state.withLock { $0.isValidating = false } }

    /// Runs `write`, or leaves `write` to the thread of a running one. So no two writes overlap, and none runs under a lock.
    func serialize(_ write: @escaping @Sendable () -> Void) {
        var next = state.withLock { state in
            state.pendingWrites.append(Action(write))
            return state.isWriting ? nil : state.nextWrite()
        }
        while let write = next {
            write()
            next = state.withLock { $0.nextWrite() }
        }
    }
}
