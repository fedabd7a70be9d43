import APIProvider
import Dispatch
import MiniRx

/// The time between two calls of `removeAll`. Responses to requests of an epoch are not stored after it.
final class StoreEpoch: Sendable {
    private struct WeakReference { weak var requests: InFlightRequests? }

    /// The responses that are being stored.
    let writes = DispatchGroup()
    private let references = Locked<[String: WeakReference]>([:])

    /// Returns what the requests in flight for `key` share, or a new object if there are none.
    func inFlightRequests(for key: String) -> InFlightRequests {
        references.withLock { references in
            if let requests = references[key]?.requests { return requests }
            let requests = InFlightRequests(key, self)
            references[key] = WeakReference(requests: requests)
            return requests
        }
    }

    /// Prevents responses to the requests in flight for `key` from being stored. Later requests share a new object.
    func invalidate(_ key: String) { references.withLock { $0.removeValue(forKey: key) }?.requests?.invalidate() }

    fileprivate func removeReference(for key: String) {
        // A new object may be there. This may be the last reference to it: release it after unlocking, because its `deinit` takes the lock.
        _ = references.withLock { references -> InFlightRequests? in
            let new = references[key]?.requests
            if new == nil { references[key] = nil }
            return new
        }
    }
}

/// What the requests for a key share while they are in flight. Each request keeps a reference. Invalidating the key starts a new object.
final class InFlightRequests: Sendable {
    private struct State {
        var isInvalidated = false
        var isValidating = false
        var isWriting = false
        var pendingWrites: [Action] = []
    }

    let key: String
    let epoch: StoreEpoch
    let validationCoalescer = CoalescingMiddleware()
    private let state = Locked(State())

    fileprivate init(_ key: String, _ epoch: StoreEpoch) { (self.key, self.epoch) = (key, epoch) }

    deinit { epoch.removeReference(for: key) }

    /// Whether an unsafe request may have changed the response. It is not stored then.
    var isInvalidated: Bool { state.withLock(\.isInvalidated) }

    fileprivate func invalidate() { state.withLock { $0.isInvalidated = true } }

    /// Returns whether the caller should validate in the background, because no other does.
    func beginValidation() -> Bool {
        state.withLock { state in
            defer { state.isValidating = true }
            return !state.isValidating
        }
    }

    func endValidation() { state.withLock { $0.isValidating = false } }

    /// Runs `write`, or leaves it to the thread that is running another. So no two writes overlap, and none of them runs under a lock.
    func serialize(_ write: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.pendingWrites.append(Action(write))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFirst else { return }
        while let write = nextWrite() { write() }
    }

    private func nextWrite() -> Action? {
        state.withLock { state in
            state.isWriting = !state.pendingWrites.isEmpty
            return state.isWriting ? state.pendingWrites.removeFirst() : nil
        }
    }
}
