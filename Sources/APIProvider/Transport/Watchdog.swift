import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Times out an exchange that is silent for too long, or takes too long in all.
///
/// Activity only notes the time. When the timer fires and something has happened meanwhile, it is set again for the rest.
final class Watchdog: Sendable {
    struct Clock: Sendable {
        let scheduler: any Scheduler
        /// Where the timer is checked: the queue on which responses come, so bytes that came in time are handled first.
        var executor = ClosureExecutor.immediate
    }

    private struct State {
        /// When something last happened; `nil` while silence does not count.
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

    /// Lets silence count from now on. Call ``start(for:)`` to watch it.
    func beginSilence() {
        let now = clock.now
        state.withLock { $0.lastActivity = now }
    }

    /// Watches the time that the exchange takes in all, and its silence if that has begun.
    func start(for exchange: Exchange) {
        let now = clock.now
        state.withLock { setTimer(for: exchange, now, &$0) }
    }

    /// Watches the silence, too. It counts from now on.
    func startIdleTimer(for exchange: Exchange) {
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

    /// Lets silence not count until the idle timer starts again. Returns whether it counted.
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

    /// A scheduler only takes the action: nothing of the user's runs under the lock.
    private func setTimer(for exchange: Exchange, _ now: UInt64, _ state: inout State) {
        let time = timeoutTime(state)
        guard !state.isStopped, time < state.timer?.time ?? .max else { return }
        state.timer?.action.dispose()
        let delay = DispatchTimeInterval.wholeMilliseconds(TimeInterval(time - min(time, now)) / 1e9)
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
