import MiniRx

/// Limits the number of requests with the same key that run at the same time. Others wait, first come, first served.
///
/// The key is an origin, or empty for a limit of all requests. A key without tickets takes no memory.
final class RequestLimiter: Sendable {
    /// A place in the queue of a key, for one request. After `acquire` has called its closure, it is the right to send the request, until
    /// `release`.
    struct Ticket: Sendable {
        fileprivate let limiter: RequestLimiter
        fileprivate let key: String
        fileprivate let number: Int

        /// Calls `start` when fewer requests than the limit run: at once, or on the thread that releases another ticket.
        func acquire(_ start: @escaping @Sendable () -> Void) { limiter.acquire(self, Action(start)) }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        func release() { limiter.release(self) }
    }

    private let limit: Int
    private let state = Locked((lanes: [String: Lane](), ticketCount: 0))

    /// - Parameter limit: The number of requests with each key, at least 1.
    init(limit: Int) { self.limit = max(limit, 1) }

    func ticket(for key: String = "") -> Ticket {
        let number = state.withLock { state in
            state.ticketCount += 1
            return state.ticketCount
        }
        return Ticket(limiter: self, key: key, number: number)
    }

    private func acquire(_ ticket: Ticket, _ start: Action) {
        change(ticket.key) { $0.add(ticket.number, start) }
        startNext(of: ticket.key)
    }

    private func release(_ ticket: Ticket) {
        // The closure of a ticket that waited is released outside of the lock.
        withExtendedLifetime(change(ticket.key) { $0.release(ticket.number) }) {}
        startNext(of: ticket.key)
    }

    /// Starts requests while fewer than the limit run. If a request ends while it starts, this loop starts the next one, so the stack does
    /// not grow.
    private func startNext(of key: String) {
        while let (number, start) = change(key, { $0.takeNext(limit: limit) }) {
            start()
            change(key) { $0.didStart(number) }
        }
    }

    private func change<Result>(_ key: String, _ body: (inout Lane) -> Result) -> Result {
        state.withLock { state in
            defer { if state.lanes[key]?.tickets.isEmpty == true { state.lanes[key] = nil } }
            return body(&state.lanes[key, default: Lane()])
        }
    }
}

extension RequestLimiter {
    private enum Phase {
        case waiting(Action)
        case starting
        case started
        /// The thread that starts the request frees its ticket.
        case releasedWhileStarting
    }

    private struct Lane {
        private(set) var tickets: [Int: Phase] = [:]
        private var runningCount = 0
        /// The tickets that wait, in order, and some that were released.
        private var queue: ArraySlice<Int> = []

        mutating func add(_ number: Int, _ start: Action) {
            tickets[number] = .waiting(start)
            queue.append(number)
        }

        mutating func takeNext(limit: Int) -> (number: Int, start: Action)? {
            guard runningCount < limit else { return nil }
            while let number = queue.popFirst() {
                guard case .waiting(let start) = tickets[number] else { continue }
                tickets[number] = .starting
                runningCount += 1
                return (number, start)
            }
            return nil
        }

        mutating func didStart(_ number: Int) {
            if case .releasedWhileStarting = tickets[number] { free(number) } else { tickets[number] = .started }
        }

        /// Returns the phase that the ticket was in.
        mutating func release(_ number: Int) -> Phase? {
            let phase = tickets[number]
            switch phase {
            case .waiting:
                tickets[number] = nil
                if queue.count > 2 * tickets.count + 64 { queue.removeAll { tickets[$0] == nil } }
            case .starting: tickets[number] = .releasedWhileStarting
            case .started: free(number)
            case .releasedWhileStarting, nil: break
            }
            return phase
        }

        private mutating func free(_ number: Int) {
            tickets[number] = nil
            runningCount -= 1
        }
    }
}
