import Foundation
import MiniRx

/// Ends exchanges in which nothing has happened for too long.
///
/// One timer serves all of them. It is set for the earliest deadline, and looks at each exchange when it fires. An exchange only notes the time as
/// its bytes come.
final class ExchangeTimer: Sendable {
    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var alarm: (time: UInt64, action: any Disposable)?
    }

    private let scheduler: any Scheduler
    private let queue: OperationQueue
    private let state = Locked(State())

    /// - Parameters:
    ///   - scheduler: The clock.
    ///   - queue: Where the bytes of exchanges come. Deadlines are checked there, after the bytes that came in time.
    init(scheduler: any Scheduler, queue: OperationQueue) {
        (self.scheduler, self.queue) = (scheduler, queue)
    }

    deinit { state.withLock(\.alarm)?.action.dispose() }

    /// In nanoseconds.
    var now: UInt64 { scheduler.now.uptimeNanoseconds }

    /// Watches `exchange` until it is removed.
    func add(_ exchange: Exchange) {
        let deadline = exchange.deadline
        state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            setAlarm(deadline, &state)
        }
    }

    func remove(_ exchange: Exchange) { _ = state.withLock { $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) } }

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
            var (late, next) = ([Exchange](), UInt64.max)
            for exchange in state.exchanges.values {
                let deadline = exchange.deadline
                if deadline <= now { late.append(exchange) } else { next = min(next, deadline) }
            }
            // Not more than once a millisecond, however many deadlines there are.
            if next < .max { setAlarm(max(next, now + 1_000_000), &state) }
            return late
        }
        late.forEach { $0.expire() }
    }
}
