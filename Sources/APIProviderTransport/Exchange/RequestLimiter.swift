package import MiniRx

/// Limits the number of running requests with the same key. Others wait, first come, first served.
///
/// The key is an origin, or empty for a limit of all requests. A key without requests takes no memory.
package final class RequestLimiter: Sendable {
    /// One request's place in a lane: first in the queue, then among the running ones.
    final class Ticket: Sendable {
        private let limiter: RequestLimiter
        private let key: String

        fileprivate init(_ limiter: RequestLimiter, _ key: String) { (self.limiter, self.key) = (limiter, key) }

        /// Calls `start` when a place is free: at once, or on the thread that releases another ticket.
        func acquire(_ start: @escaping @Sendable () -> Void) {
            if limiter.add(self, Action(start), to: key) { start() }
        }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        func release() { limiter.remove(self, from: key) }
    }

    private struct Lane {
        var running: Set<ObjectIdentifier> = []
        /// The waiting tickets that a thread is starting. If one ends meanwhile, that thread starts the next one, so the stack does not
        /// grow.
        var starting: Set<ObjectIdentifier> = []
        var waiting: [ObjectIdentifier: (turn: Int, start: Action)] = [:]
        /// The waiting tickets, in order, and some released ones. A later ticket may get the identifier of one of these, so the turn is
        /// compared, too.
        var queue: ArraySlice<(ticket: ObjectIdentifier, turn: Int)> = []
        var turnCount = 0

        var isUnused: Bool { running.isEmpty && waiting.isEmpty && starting.isEmpty }
    }

    private let limit: Int
    private let lanes = Locked<[String: Lane]>([:])

    /// - Parameter limit: The number of requests with each key, at least 1.
    package init(limit: Int) { self.limit = max(limit, 1) }

    func ticket(for key: String = "") -> Ticket { Ticket(self, key) }

    /// A single that runs at its turn, and holds its place until its end or dispose.
    package func running<Element>(_ make: @escaping @Sendable () -> Single<Element>) -> Single<Element> {
        .deferred { [self] in
            let ticket = ticket()
            let turn = Single<Void>.create { observer in
                ticket.acquire { observer(.success(())) }
                return Disposables.create()
            }
            return turn.flatMap(make).do(onDispose: { ticket.release() })
        }
    }

    // MARK: - Turns

    /// Returns whether the request may start now. Otherwise `start` is called later.
    private func add(_ ticket: Ticket, _ start: Action, to key: String) -> Bool {
        lanes.withLock { lanes in
            var lane = lanes.removeValue(forKey: key) ?? Lane()
            defer { lanes[key] = lane }
            if lane.running.count < limit, lane.waiting.isEmpty {
                lane.running.insert(ObjectIdentifier(ticket))
                return true
            }
            lane.turnCount += 1
            lane.waiting[ObjectIdentifier(ticket)] = (lane.turnCount, start)
            lane.queue.append((ObjectIdentifier(ticket), lane.turnCount))
            return false
        }
    }

    private func remove(_ ticket: Ticket, from key: String) {
        // The closure of a waiting ticket is released outside of the lock.
        let (_, startsNext) = lanes.withLock { lanes -> (Action?, Bool) in
            guard var lane = lanes.removeValue(forKey: key) else { return (nil, false) }
            defer { if !lane.isUnused { lanes[key] = lane } }
            if let waited = lane.waiting.removeValue(forKey: ObjectIdentifier(ticket)) {
                // Searching for each of thousands of disposed tickets would take seconds.
                if lane.queue.count > 2 * lane.waiting.count + 64 {
                    lane.queue.removeAll { [waiting = lane.waiting] in waiting[$0.ticket]?.turn != $0.turn }
                }
                return (waited.start, false)
            }
            let wasRunning = lane.running.remove(ObjectIdentifier(ticket)) != nil
            return (nil, wasRunning && !lane.starting.contains(ObjectIdentifier(ticket)) && !lane.waiting.isEmpty)
        }
        guard startsNext else { return }
        var started: ObjectIdentifier?
        while let (next, start) = takeNext(of: key, after: started) {
            start()
            started = next
        }
    }

    /// The next request to start on this thread; `nil` ends the loop.
    private func takeNext(of key: String, after started: ObjectIdentifier?) -> (ObjectIdentifier, Action)? {
        lanes.withLock { lanes in
            guard var lane = lanes.removeValue(forKey: key) else { return nil }
            defer { if !lane.isUnused { lanes[key] = lane } }
            if let started { lane.starting.remove(started) }
            while lane.running.count < limit, let (next, turn) = lane.queue.popFirst() {
                guard let waiting = lane.waiting[next], waiting.turn == turn else { continue }
                lane.waiting[next] = nil
                lane.running.insert(next)
                lane.starting.insert(next)
                return (next, waiting.start)
            }
            return nil
        }
    }
}
