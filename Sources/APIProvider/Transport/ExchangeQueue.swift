import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Begins exchanges in the order in which they come, as their hosts have connections, and ends those in which nothing happens for too long.
final class ExchangeQueue: Sendable {
    fileprivate struct State {
        var hosts: [String: HostQueue<ObjectIdentifier>] = [:]
        /// Those that are not over.
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        /// Those to begin. One thread begins them in a loop: if each began the next as it ended, the stack could overflow.
        var ready: [Exchange] = []
        var isBeginning = false
        var alarm: (time: UInt64, action: any Disposable)?
    }

    private let connectionsPerHost: Int?
    private let silence: UInt64
    private let whole: UInt64
    private let scheduler: any Scheduler
    private let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - settings: How many requests a host gets at once, and how long they may take. A time that is not above 0 means the default.
    ///   - scheduler: The clock.
    ///   - perform: Calls a closure where deadlines are checked. If bytes of responses come there, those that came in time are taken first.
    init(
        _ settings: ExchangeTransport.Settings, scheduler: any Scheduler,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        connectionsPerHost = settings.connectionsPerHost
        silence = settings.timeoutInterval.nanoseconds ?? 60_000_000_000
        whole = settings.timeoutIntervalForResource.nanoseconds ?? 604_800_000_000_000
        (self.scheduler, self.perform) = (scheduler, perform)
    }

    deinit { state.withLock(\.alarm)?.action.dispose() }

    /// In nanoseconds.
    var now: UInt64 { scheduler.now.uptimeNanoseconds }

    /// How long `request` may be silent, and when it must have ended, in nanoseconds.
    func limits(of request: URLRequest) -> (silence: UInt64, end: UInt64) {
        // A request that sets none has 60 s.
        (request.timeoutInterval == 60 ? silence : request.timeoutInterval.nanoseconds ?? silence, now + whole)
    }

    /// Begins `exchange` when it is its turn: at once, or on the thread on which another one ends.
    func enter(_ exchange: Exchange) {
        let (id, now) = (ObjectIdentifier(exchange), now)
        let step = state.withLock { state in
            state.exchanges[id] = exchange
            let step: HostQueue<ObjectIdentifier>.Step?
            if let connectionsPerHost, let host = exchange.host {
                step = state.hosts[host, default: HostQueue(connections: connectionsPerHost)].enter(id)
            } else {
                step = .connect(id)
            }
            setAlarm(step == .connect(id) ? exchange.live(at: now) : exchange.deadline, now, &state)
            return step
        }
        if step != nil { exchange.begin() }
    }

    /// The head of a response shows whether requests to its host share connections.
    func learn(_ exchange: Exchange, isShared: Bool) {
        guard let host = exchange.host else { return }
        change { state, now in
            let steps = state.hosts[host]?.learn(isShared: isShared) ?? []
            steps.forEach { prepare($0, now, &state) }
        }
    }

    /// The network stack has ended `exchange`, or it was over before it began: its connection is free.
    func leave(_ exchange: Exchange) {
        change { state, now in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            guard let host = exchange.host else { return }
            let step = state.hosts[host]?.leave(ObjectIdentifier(exchange))
            if state.hosts[host]?.isUnused == true { state.hosts[host] = nil }
            if let step = step ?? nil { prepare(step, now, &state) }
        }
    }

    /// `exchange` is over, but the network stack has not yet ended it.
    func stopWatching(_ exchange: Exchange) { _ = state.withLock { $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) } }

    /// Sets the alarm to go off at `deadline` or earlier.
    func watch(until deadline: UInt64) {
        let now = now
        state.withLock { setAlarm(deadline, now, &$0) }
    }

    /// Changes the state, and begins what is ready then.
    private func change(_ body: (inout State, _ now: UInt64) -> Void) {
        let now = now
        var ready = state.withLock { state in
            body(&state, now)
            return state.isBeginning ? [] : state.takeReady()
        }
        while !ready.isEmpty {
            ready.forEach { $0.begin() }
            ready = state.withLock { $0.takeReady() }
        }
    }

    private func prepare(_ step: HostQueue<ObjectIdentifier>.Step, _ now: UInt64, _ state: inout State) {
        switch step {
        case .send(let id): state.exchanges[id].map { state.ready.append($0) }
        case .connect(let id):
            guard let exchange = state.exchanges[id] else { return }
            setAlarm(exchange.live(at: now), now, &state)
            state.ready.append(exchange)
        }
    }

    /// A scheduler only takes the action: nothing of the user's runs under the lock.
    private func setAlarm(_ time: UInt64, _ now: UInt64, _ state: inout State) {
        guard time < state.alarm?.time ?? .max else { return }
        state.alarm?.action.dispose()
        let delay = DispatchTimeInterval.wholeMilliseconds(TimeInterval(time - min(time, now)) / 1e9)
        let action = scheduler.schedule(after: delay) { [weak self, perform] in perform { [weak self] in self?.check() } }
        state.alarm = (time, action)
    }

    private func check() {
        let now = now
        let late = state.withLock { state in
            state.alarm = nil
            let late = state.exchanges.values.filter { $0.deadline <= now }
            let next = state.exchanges.values.lazy.map(\.deadline).filter { $0 > now }.min()
            // Not more than once a millisecond, however many deadlines there are.
            if let next, next < .max { setAlarm(max(next, now + 1_000_000), now, &state) }
            return late
        }
        late.forEach { $0.expire() }
    }
}

extension ExchangeQueue.State {
    /// The caller begins what is returned, and asks again until that is empty.
    fileprivate mutating func takeReady() -> [Exchange] {
        defer { ready = [] }
        isBeginning = !ready.isEmpty
        return ready
    }
}

extension TimeInterval {
    /// `nil` unless there is time to wait; at most a hundred years.
    fileprivate var nanoseconds: UInt64? { self > 0 ? UInt64(Swift.min(self, 3_155_760_000) * 1e9) : nil }
}
