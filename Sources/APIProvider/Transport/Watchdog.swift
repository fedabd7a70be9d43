import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Times out an exchange that is idle for too long, or takes too long in total.
///
/// Activity only records the time. If there was activity when the timer fires, the timer is set again for the remaining time.
final class Watchdog: Sendable {
    struct Clock: Sendable {
        let scheduler: any Scheduler
        /// Where the timer is checked: the queue on which responses come, so bytes that came in time are handled first.
        var executor = ClosureExecutor.immediate
    }

    private struct State {
        /// The time of the last activity; `nil` while the idle timer is paused.
        var lastActivity: UInt64?
        var timer: (time: UInt64, action: any Disposable)?
        var isStopped = false
    }

    private let clock: Clock
    /// In nanoseconds, as all times here.
    private let idleTimeout: UInt64
    private let deadline: UInt64
    private let state = Locked(State())

    /// - Parameters:
    ///   - settings: The timeouts. One that is not above 0 means the default.
    ///   - request: The request, which may have its own timeout. A stream may take for ever.
    init(_ clock: Clock, _ settings: ExchangeTransport.Settings, _ request: PreparedRequest) {
        self.clock = clock
        idleTimeout = request.timeoutInterval?.nanoseconds ?? settings.timeoutInterval.nanoseconds ?? 60_000_000_000
        let resourceTimeout = settings.timeoutIntervalForResource.nanoseconds ?? 604_800_000_000_000
        deadline = request.isStreamed ? .max : clock.now + resourceTimeout
    }

    /// Begins to measure the idle time. Call ``setTimer(for:)`` to set the timer.
    func beginIdleTime() {
        let now = clock.now
        state.withLock { $0.lastActivity = now }
    }

    /// Sets the timer for the deadline, and for the idle time if that has begun.
    func setTimer(for exchange: Exchange) {
        let now = clock.now
        state.withLock { setTimer(for: exchange, now, &$0) }
    }

    /// Begins the idle time again after ``pauseIdleTimer()``, and sets the timer.
    func resumeIdleTimer(for exchange: Exchange) {
        let now = clock.now
        state.withLock { state in
            state.lastActivity = now
            setTimer(for: exchange, now, &state)
        }
    }

    func recordActivity() {
        let now = clock.now
        state.withLock { if $0.lastActivity != nil { $0.lastActivity = now } }
    }

    /// Pauses the idle timer. Returns whether it was running.
    func pauseIdleTimer() -> Bool { state.withLock { $0.lastActivity.take() != nil } }

    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer.take()
        }
        timer?.action.dispose()
    }

    /// When the exchange ends if nothing happens.
    private func timeoutTime(_ state: State) -> UInt64 { min(deadline, state.lastActivity.map { $0 + idleTimeout } ?? .max) }

    /// Scheduling under the lock is safe: the scheduler only stores the action, and calls no user code.
    private func setTimer(for exchange: Exchange, _ now: UInt64, _ state: inout State) {
        let time = timeoutTime(state)
        guard !state.isStopped, time < state.timer?.time ?? .max else { return }
        state.timer?.action.dispose()
        let delay = DispatchTimeInterval(seconds: TimeInterval(time - min(time, now)) / 1e9)
        let action = clock.scheduler.schedule(after: delay) { [self] in clock.executor.execute { self.check(exchange) } }
        state.timer = (time, action)
    }

    private func check(_ exchange: Exchange) {
        let now = clock.now
        let isLate = state.withLock { state in
            guard !state.isStopped else { return false }
            state.timer?.action.dispose()
            state.timer = nil
            if timeoutTime(state) <= now { return true }
            setTimer(for: exchange, now, &state)
            return false
        }
        if isLate { exchange.timeOut() }
    }
}

extension Watchdog.Clock {
    fileprivate var now: UInt64 { scheduler.now.uptimeNanoseconds }
}

extension TimeInterval {
    /// `nil` unless there is time to wait; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
