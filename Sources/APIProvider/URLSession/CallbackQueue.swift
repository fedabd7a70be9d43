import Foundation
import MiniRx

/// What a session calls its delegate on, one call at a time: an `OperationQueue`, because a session takes nothing else, that hands the
/// calls to a dispatch queue. An operation costs several times what the call does.
final class CallbackQueue: OperationQueue, @unchecked Sendable {  // It adds constants alone.
    private let queue = DispatchQueue(label: "APIProvider.session")
    private let calls = Locked((waiting: [@Sendable () -> Void](), isRunning: false))

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let isRunning = calls.withLock { calls in
            calls.waiting.append(block)
            defer { calls.isRunning = true }
            return calls.isRunning
        }
        if !isRunning { queue.async { self.run() } }
    }

    /// A session makes several calls within microseconds. To look twice for the next one costs less than to wake a thread for it.
    private func run() {
        var pauses = 0
        while pauses < 3 {
            let ready = calls.withLock { calls in
                defer { calls.waiting = [] }
                calls.isRunning = !calls.waiting.isEmpty || pauses < 2
                return calls.waiting
            }
            ready.forEach { $0() }
            pauses = ready.isEmpty ? pauses + 1 : 0
            if ready.isEmpty { sched_yield() }
        }
    }
}
