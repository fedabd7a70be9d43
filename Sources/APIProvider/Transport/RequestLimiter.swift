import MiniRx

/// Limits the number of requests with the same key that run at the same time. Others wait, first come, first served.
///
/// The key is an origin, or empty for a limit of all requests. A key without requests takes no memory.
final class RequestLimiter: Sendable {
    /// One request's place in a lane: first in the queue, then among those that run.
    final class Ticket: Sendable {
        private let limiter: RequestLimiter
        private let key: String

        fileprivate init(_ limiter: RequestLimiter, _ key: String) { (self.limiter, self.key) = (limiter, key) }

        /// Calls `start` when fewer requests than the limit run: at once, or on the thread that releases another ticket.
        func acquire(_ start: @escaping @Sendable () -> Void) {
            if limiter.add(self, Action(start), to: key) { start() }
        }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        func release() { limiter.remove(self, from: key) }
    }

    private struct Lane {
        var running: Set<ObjectIdentifier> = []
        /// Whether a thread is starting requests that have waited. It starts the next one, too, so the stack does not grow.
        var isStarting = false
        var waiting: [ObjectIdentifier: Action] = [:]
        /// The tickets that wait, in order.
        var queue: ArraySlice<ObjectIdentifier> = []

        var isUnused: Bool { running.isEmpty && queue.isEmpty && !isStarting }
    }

    private let limit: Int
    private let lanes = Locked<[String: Lane]>([:])

    /// - Parameter limit: The number of requests with each key, at least 1.
    init(limit: Int) { self.limit = max(limit, 1) }

    func ticket(for key: String = "") -> Ticket { Ticket(self, key) }

    /// Returns whether the request may start now. Otherwise `start` is called when it may.
    private func add(_ ticket: Ticket, _ start: Action, to key: String) -> Bool {
        lanes.withLock { lanes in
            var lane = lanes.removeValue(forKey: key) ?? Lane()
            defer { lanes[key] = lane }
            if lane.running.count < limit, lane.queue.isEmpty {
                lane.running.insert(ObjectIdentifier(ticket))
                return true
            }
            lane.waiting[ObjectIdentifier(ticket)] = start
            lane.queue.append(ObjectIdentifier(ticket))
            return false
        }
    }

    private func remove(_ ticket: Ticket, from key: String) {
        // The closure of a ticket that waited is released outside of the lock.
        let (_, startsNext) = lanes.withLock { lanes -> (Action?, Bool) in
            guard var lane = lanes.removeValue(forKey: key) else { return (nil, false) }
            defer { if !lane.isUnused { lanes[key] = lane } }
            if let waited = lane.waiting.removeValue(forKey: ObjectIdentifier(ticket)) {
                lane.queue.removeAll { $0 == ObjectIdentifier(ticket) }
                return (waited, false)
            }
            guard lane.running.remove(ObjectIdentifier(ticket)) != nil, !lane.isStarting, !lane.queue.isEmpty else { return (nil, false) }
            lane.isStarting = true
            return (nil, true)
        }
        guard startsNext else { return }
        while let start = takeNext(of: key) { start() }
    }

    /// The request to start next. `nil` ends the loop that starts them.
    private func takeNext(of key: String) -> Action? {
        lanes.withLock { lanes in
            guard var lane = lanes.removeValue(forKey: key) else { return nil }
            defer { if !lane.isUnused { lanes[key] = lane } }
            if lane.running.count < limit, let next = lane.queue.popFirst() {
                lane.running.insert(next)
                return lane.waiting.removeValue(forKey: next)
            }
            lane.isStarting = false
            return nil
        }
    }
}
