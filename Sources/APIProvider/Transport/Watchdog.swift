import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Ends one exchange in which nothing happens for too long, or which takes too long in all.
///
/// Activity only notes the time. When the timer fires and something has happened meanwhile, it is set again for the rest.
final class Watchdog: Sendable {
    struct Clock: Sendable {
        let scheduler: any Scheduler
        /// Where the watchdog looks at the time. If bytes of responses come there, those that came in time are taken first.
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
    ///   - isStreamed: Whether the exchange may take for ever.
    init(_ clock: Clock, _ settings: ExchangeTransport.Settings, _ request: URLRequest, isStreamed: Bool) {
        self.clock = clock
        // A request that sets no timeout has 60 s.
        let timeout = request.timeoutInterval == 60 ? nil : request.timeoutInterval.nanoseconds
        idleTimeout = timeout ?? settings.timeoutInterval.nanoseconds ?? 60_000_000_000
        let whole = settings.timeoutIntervalForResource.nanoseconds ?? 604_800_000_000_000
        deadline = isStreamed ? .max : clock.now + whole
    }

    /// Watches the time that the exchange takes in all.
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
    private func end(_ state: State) -> UInt64 { min(deadline, state.lastActivity.map { $0 + idleTimeout } ?? .max) }

    /// A scheduler only takes the action: nothing of the user's runs under the lock.
    private func setTimer(for exchange: Exchange, _ now: UInt64, _ state: inout State) {
        let time = end(state)
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
            if end(state) <= now { return true }
            setTimer(for: exchange, now, &state)
            return false
        }
        if isLate { exchange.expire() }
    }
}

extension Watchdog.Clock {
    fileprivate var now: UInt64 { scheduler.now.uptimeNanoseconds }
}

extension TimeInterval {
    /// `nil` unless there is time to wait; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
