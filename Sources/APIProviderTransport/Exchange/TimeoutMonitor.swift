import Foundation
import MiniRx

/// Runs a closure: at once, or on another thread.
typealias Executor = @Sendable (@escaping @Sendable () -> Void) -> Void

/// Ends a transport's exchanges that are idle for too long, or take too long in total.
///
/// One timer serves all exchanges, and is set for the nearest deadline. Activity only records the time: after recent activity, a firing
/// timer is set again.
final class TimeoutMonitor: Sendable {
    private struct State {
        /// The running exchanges, each with the time of the next check.
        var exchanges: [ObjectIdentifier: (exchange: Exchange, time: UInt64)] = [:]
        /// The times of all checks, the earliest first. The time of an ended exchange stays until it is due.
        var times: ArraySlice<(time: UInt64, exchange: ObjectIdentifier)> = []
        var timer: (time: UInt64, action: SerialDisposable)?

        /// Returns the replaced entry, to be released after unlocking.
        mutating func add(_ exchange: Exchange, at time: UInt64) -> (exchange: Exchange, time: UInt64)? {
            let id = ObjectIdentifier(exchange)
            let old = exchanges.updateValue((exchange, time), forKey: id)
            guard old?.time != time else { return old }
            // Most exchanges have the same timeout, so the search begins at the end.
            let index = times.lastIndex { $0.time <= time }.map { $0 + 1 } ?? times.startIndex
            times.insert((time, id), at: index)
            if times.count > 2 * exchanges.count + 64 {
                times.removeAll { [exchanges] in exchanges[$0.exchange]?.time != $0.time }
            }
            return old
        }

        /// The time of the next check.
        mutating func nextTime() -> UInt64? {
            while let (time, id) = times.first {
                if exchanges[id]?.time == time { return time }
                times.removeFirst()
            }
            return nil
        }

        /// Takes the due exchanges. Add running ones again.
        mutating func takeDue(at now: UInt64) -> [Exchange] {
            var due: [Exchange] = []
            while let time = nextTime(), time <= now {
                if let exchange = exchanges[times.removeFirst().exchange]?.exchange { due.append(exchange) }
            }
            return due
        }
    }

    private let scheduler: any Scheduler
    private let execute: Executor
    private let keepsTimer: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - execute: Checks deadlines on the queue of responses, so that bytes in time come first.
    ///   - keepsTimer: Whether the timer stays set without exchanges: the next may begin soon, and setting a timer is a system call. In
    ///     virtual time, the timer would be one more action for `run()`.
    init(_ scheduler: any Scheduler, execute: @escaping Executor = { $0() }, keepsTimer: Bool) {
        (self.scheduler, self.execute, self.keepsTimer) = (scheduler, execute, keepsTimer)
    }

    deinit { state.withLock(\.timer)?.action.dispose() }

    /// In nanoseconds, like all times here.
    var now: UInt64 { scheduler.now.uptimeNanoseconds }

    // MARK: - Watching exchanges

    /// Watches `exchange` until ``stopWatching(_:)``. Call this again for an earlier deadline.
    func watch(_ exchange: Exchange) {
        guard let deadline = exchange.deadline else { return }
        _ = state.withLock { $0.add(exchange, at: deadline) }
        // The exchange may have ended on another thread.
        if exchange.deadline == nil { stopWatching(exchange) } else { setTimer(for: deadline) }
    }

    func stopWatching(_ exchange: Exchange) {
        let (_, timer) = state.withLock { state in
            let watched = state.exchanges.removeValue(forKey: ObjectIdentifier(exchange))
            return (watched, keepsTimer || !state.exchanges.isEmpty ? nil : state.timer.take())
        }
        timer?.action.dispose()
    }

    // MARK: - The timer

    /// Sets the timer for `time`, unless set for an earlier one.
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
        action.disposable = scheduler.schedule(after: delay) { [weak self, execute] in
            // A scheduler that runs actions at once has no time: nothing times out.
            guard let self, isScheduled.withLock({ $0 }) || time <= now else { return }
            execute { [weak self] in self?.check(action) }
        }
        isScheduled.withLock { $0 = true }
    }

    private func check(_ action: SerialDisposable) {
        let now = now
        let due = state.withLock { state -> [Exchange]? in
            guard state.timer?.action === action else { return nil }
            state.timer = nil
            return state.takeDue(at: now)
        }
        // The scheduler's disposable may hold the closure, which holds `action`.
        action.dispose()
        guard let due else { return }
        for exchange in due where !exchange.timeOut(at: now) { watch(exchange) }
        if let next = state.withLock({ $0.nextTime() }) { setTimer(for: next) }
    }
}
