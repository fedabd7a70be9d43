import MiniRx

/// Counts what is open, and tells when nothing is.
final class OpenCount: Sendable {
    private let state = Locked((count: 0, waiting: [CheckedContinuation<Void, Never>]()))

    func opened() { state.withLock { $0.count += 1 } }

    func closed() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    func zero() async {
        await withCheckedContinuation { continuation in
            let isZero = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isZero { continuation.resume() }
        }
    }
}
