import Foundation
import MiniRx

/// Ends transfers in which nothing has happened for too long.
///
/// One timer serves all of them. It is set for the earliest deadline, and looks at each transfer when it fires. A transfer only notes the time as
/// its bytes come.
final class TransferTimer: Sendable {
    private struct State {
        var transfers: [ObjectIdentifier: Transfer] = [:]
        var alarm: (time: UInt64, action: any Disposable)?
    }

    private let scheduler: any Scheduler
    private let queue: OperationQueue
    private let state = Locked(State())

    /// - Parameters:
    ///   - scheduler: The clock.
    ///   - queue: Where the bytes of transfers come. Deadlines are checked there, after the bytes that came in time.
    init(scheduler: any Scheduler, queue: OperationQueue) {
        (self.scheduler, self.queue) = (scheduler, queue)
    }

    deinit { state.withLock(\.alarm)?.action.dispose() }

    /// In nanoseconds.
    var now: UInt64 { scheduler.now.uptimeNanoseconds }

    /// Watches `transfer` until it is removed.
    func add(_ transfer: Transfer) {
        let deadline = transfer.deadline
        state.withLock { state in
            state.transfers[ObjectIdentifier(transfer)] = transfer
            setAlarm(deadline, &state)
        }
    }

    func remove(_ transfer: Transfer) { _ = state.withLock { $0.transfers.removeValue(forKey: ObjectIdentifier(transfer)) } }

    /// A scheduler only takes the action: nothing of the user's runs under the lock.
    private func setAlarm(_ time: UInt64, _ state: inout State) {
        guard time < state.alarm?.time ?? .max else { return }
        state.alarm?.action.dispose()
        let delay = Int(clamping: time - min(time, now))
        state.alarm = (time, scheduler.schedule(after: .nanoseconds(delay)) { [weak self] in self?.fire() })
    }

    private func fire() { queue.addOperation { self.check() } }

    private func check() {
        let late = state.withLock { state in
            state.alarm = nil
            let now = now
            var (late, next) = ([Transfer](), UInt64.max)
            for transfer in state.transfers.values {
                let deadline = transfer.deadline
                if deadline <= now { late.append(transfer) } else { next = min(next, deadline) }
            }
            // Not more than once a millisecond, however many deadlines there are.
            if next < .max { setAlarm(max(next, now + 1_000_000), &state) }
            return late
        }
        late.forEach { $0.expire() }
    }
}
