import Foundation
import MiniRx

/// Ends the exchanges of a transport that are idle for too long, or take too long in total.
///
/// One timer serves all exchanges, and is set for the nearest deadline. Activity only records its time: if there was some when the timer
/// fires, the timer is set again.
final class Timeouts: Sendable {
    private struct State {
        /// The exchanges that have not ended.
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var timer: (time: UInt64, action: SerialDisposable)?
    }

    private let scheduler: any Scheduler
    private let executor: ClosureExecutor
    private let keepsTimer: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - executor: Where deadlines are checked: the queue on which responses come, so bytes that came in time are handled first.
    ///   - keepsTimer: Whether the timer stays set when no exchange is left, because the next one may begin soon, and setting a timer is a
    ///     system call. With virtual time, it would be one more action that `run()` waits for.
    init(_ scheduler: any Scheduler, executor: ClosureExecutor = .immediate, keepsTimer: Bool) {
        (self.scheduler, self.executor, self.keepsTimer) = (scheduler, executor, keepsTimer)
    }

    deinit { state.withLock(\.timer)?.action.dispose() }

    /// In nanoseconds, as all times here.
    var now: UInt64 { scheduler.now.uptimeNanoseconds }

    /// Watches `exchange` until ``stopWatching(_:)``. Call it again when its deadline has become earlier.
    func watch(_ exchange: Exchange) {
        _ = state.withLock { $0.exchanges.updateValue(exchange, forKey: ObjectIdentifier(exchange)) }
        // It may have ended on another thread before it was watched.
        guard let deadline = exchange.deadline else { return stopWatching(exchange) }
        setTimer(for: deadline)
    }

    func stopWatching(_ exchange: Exchange) {
        let (_, timer) = state.withLock { state in
            let watched = state.exchanges.removeValue(forKey: ObjectIdentifier(exchange))
            return (watched, keepsTimer || !state.exchanges.isEmpty ? nil : state.timer.take())
        }
        timer?.action.dispose()
    }

    /// Sets the timer for `time`, unless it is set for an earlier one.
    private func setTimer(for time: UInt64) {
        let (old, action) = state.withLock { state -> (SerialDisposable?, SerialDisposable?) in
            guard time < state.timer?.time ?? .max else { return (nil, nil) }
            let (old, action) = (state.timer?.action, SerialDisposable())
            state.timer = (time, action)
            return (old, action)
        }
        guard let action else { return }
        old?.dispose()
        let isScheduled = Locked(false)
        let delay = DispatchTimeInterval(seconds: TimeInterval(time - min(time, now)) / 1e9)
        action.disposable = scheduler.schedule(after: delay) { [weak self, executor] in
            // A scheduler that runs actions at once has no time to wait for: nothing times out.
            guard let self, isScheduled.withLock({ $0 }) || time <= now else { return }
            executor.execute { [weak self] in self?.check(action) }
        }
        isScheduled.withLock { $0 = true }
    }

    private func check(_ action: SerialDisposable) {
        let exchanges = state.withLock { state in
            guard state.timer?.action === action else { return [Exchange]() }
            state.timer = nil
            return Array(state.exchanges.values)
        }
        // What the scheduler has returned may hold the closure that holds `action`.
        action.dispose()
        let now = now
        let deadlines = exchanges.compactMap { $0.timeOut(at: now) }
        if let next = deadlines.min() { setTimer(for: next) }
    }
}
