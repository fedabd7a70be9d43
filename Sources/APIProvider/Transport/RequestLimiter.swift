import MiniRx

/// Limits the number of requests to a host at the same time. Others wait, first come, first served.
///
/// A host without permits takes no memory.
final class RequestLimiter: Sendable {
    /// The right to send one request.
    struct Permit: Sendable {
        fileprivate let limiter: RequestLimiter
        fileprivate let host: String
        fileprivate let number: Int

        /// Calls `start` when fewer requests than the limit run: at once, or on the thread that releases another permit.
        func acquire(_ start: @escaping @Sendable () -> Void) { limiter.acquire(self, Action(start)) }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        func release() { limiter.release(self) }
    }

    private let limit: Int
    private let state = Locked((hosts: [String: Host](), permitCount: 0))

    /// - Parameter limit: The number of requests to each host, at least 1.
    init(limit: Int) { self.limit = max(limit, 1) }

    func permit(for host: String = "") -> Permit {
        let number = state.withLock { state in
            state.permitCount += 1
            return state.permitCount
        }
        return Permit(limiter: self, host: host, number: number)
    }

    private func acquire(_ permit: Permit, _ start: Action) {
        change(permit.host) { $0.add(permit.number, start) }
        startNext(of: permit.host)
    }

    private func release(_ permit: Permit) {
        // The closure of a permit that waited is released outside of the lock.
        withExtendedLifetime(change(permit.host) { $0.release(permit.number) }) {}
        startNext(of: permit.host)
    }

    /// Starts requests while fewer than the limit run. If a request ends while it starts, this loop starts the next one, so the stack does
    /// not grow.
    private func startNext(of host: String) {
        while let (number, start) = change(host, { $0.takeNext(limit: limit) }) {
            start()
            change(host) { $0.didStart(number) }
        }
    }

    private func change<Result>(_ host: String, _ body: (inout Host) -> Result) -> Result {
        state.withLock { state in
            defer { if state.hosts[host]?.permits.isEmpty == true { state.hosts[host] = nil } }
            return body(&state.hosts[host, default: Host()])
        }
    }
}

extension RequestLimiter {
    private enum Phase {
        case waiting(Action)
        case starting
        case started
        /// The thread that starts the request frees its permit.
        case releasedWhileStarting
    }

    private struct Host {
        private(set) var permits: [Int: Phase] = [:]
        private var permitsInUse = 0
        /// The permits that wait, in order, and some that were released.
        private var queue: ArraySlice<Int> = []

        mutating func add(_ number: Int, _ start: Action) {
            permits[number] = .waiting(start)
            queue.append(number)
        }

        mutating func takeNext(limit: Int) -> (number: Int, start: Action)? {
            guard permitsInUse < limit else { return nil }
            while let number = queue.popFirst() {
                guard case .waiting(let start) = permits[number] else { continue }
                permits[number] = .starting
                permitsInUse += 1
                return (number, start)
            }
            return nil
        }

        mutating func didStart(_ number: Int) {
            if case .releasedWhileStarting = permits[number] { free(number) } else { permits[number] = .started }
        }

        /// Returns the phase that the permit was in.
        mutating func release(_ number: Int) -> Phase? {
            let phase = permits[number]
            switch phase {
            case .waiting:
                permits[number] = nil
                if queue.count > 2 * permits.count + 64 { queue.removeAll { permits[$0] == nil } }
            case .starting: permits[number] = .releasedWhileStarting
            case .started: free(number)
            case .releasedWhileStarting, nil: break
            }
            return phase
        }

        private mutating func free(_ number: Int) {
            permits[number] = nil
            permitsInUse -= 1
        }
    }
}
