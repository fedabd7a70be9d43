import MiniRx

/// Admits a limited number at the same time for each host. Others wait, first come, first served.
///
/// A host without a ticket takes no memory.
final class Gate: Sendable {
    /// The right to enter once.
    struct Ticket: Sendable {
        fileprivate let gate: Gate
        fileprivate let host: String
        fileprivate let number: Int

        /// Calls `start` when a place is free: at once, or on the thread on which another ticket leaves.
        func enter(_ start: @escaping @Sendable () -> Void) { gate.enter(self, Action(start)) }

        /// Frees the place, or stops waiting for one. Only the first call has an effect.
        func leave() { gate.leave(self) }
    }

    private let limit: Int
    private let state = Locked((hosts: [String: Host](), ticketCount: 0))

    /// - Parameter limit: The number of places of each host, at least 1.
    init(limit: Int) { self.limit = max(limit, 1) }

    func ticket(for host: String = "") -> Ticket {
        let number = state.withLock { state in
            state.ticketCount += 1
            return state.ticketCount
        }
        return Ticket(gate: self, host: host, number: number)
    }

    private func enter(_ ticket: Ticket, _ start: Action) {
        change(ticket.host) { $0.add(ticket.number, start) }
        startNext(of: ticket.host)
    }

    private func leave(_ ticket: Ticket) {
        // The closure of a ticket that waited is released outside of the lock.
        withExtendedLifetime(change(ticket.host) { $0.leave(ticket.number) }) {}
        startNext(of: ticket.host)
    }

    /// Starts tickets while there are free places. A ticket that leaves while it starts makes room in this loop, so the stack does not grow.
    private func startNext(of host: String) {
        while let (number, start) = change(host, { $0.takeNext(limit: limit) }) {
            start()
            change(host) { $0.didStart(number) }
        }
    }

    private func change<Result>(_ host: String, _ body: (inout Host) -> Result) -> Result {
        state.withLock { state in
            defer { if state.hosts[host]?.tickets.isEmpty == true { state.hosts[host] = nil } }
            return body(&state.hosts[host, default: Host()])
        }
    }
}

extension Gate {
    private enum Phase {
        case waiting(Action)
        case starting
        case started
        /// The thread that starts the ticket frees its place.
        case leftWhileStarting
    }

    private struct Host {
        private(set) var tickets: [Int: Phase] = [:]
        private var placesInUse = 0
        /// The tickets that wait, in order, and some that have left.
        private var queue: ArraySlice<Int> = []

        mutating func add(_ number: Int, _ start: Action) {
            tickets[number] = .waiting(start)
            queue.append(number)
        }

        mutating func takeNext(limit: Int) -> (number: Int, start: Action)? {
            guard placesInUse < limit else { return nil }
            while let number = queue.popFirst() {
                guard case .waiting(let start) = tickets[number] else { continue }
                tickets[number] = .starting
                placesInUse += 1
                return (number, start)
            }
            return nil
        }

        mutating func didStart(_ number: Int) {
            if case .leftWhileStarting = tickets[number] { free(number) } else { tickets[number] = .started }
        }

        /// Returns what the ticket was.
        mutating func leave(_ number: Int) -> Phase? {
            let phase = tickets[number]
            switch phase {
            case .waiting:
                tickets[number] = nil
                if queue.count > 2 * tickets.count + 64 { queue.removeAll { tickets[$0] == nil } }
            case .starting: tickets[number] = .leftWhileStarting
            case .started: free(number)
            case .leftWhileStarting, nil: break
            }
            return phase
        }

        private mutating func free(_ number: Int) {
            tickets[number] = nil
            placesInUse -= 1
        }
    }
}
