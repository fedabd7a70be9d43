package import MiniRx

/// Limits the number of running requests with the same key. Others wait, first come, first served.
///
/// The key is an origin, or empty for one limit on all requests. A key without requests takes no memory.
package final class RequestLimiter: Sendable {
    /// One request's permit: first waiting in the queue, then running.
    final class Permit: Sendable {
        private let limiter: RequestLimiter
        private let key: String

        fileprivate init(_ limiter: RequestLimiter, _ key: String) { (self.limiter, self.key) = (limiter, key) }

        /// Calls `start` when a place is free: at once, or on the thread that releases another permit.
        func acquire(_ start: @escaping @Sendable () -> Void) {
            if limiter.add(self, Action(start), to: key) { start() }
        }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        func release() { limiter.remove(self, from: key) }
    }

    private struct Queue {
        var running: Set<ObjectIdentifier> = []
        /// The permits being started by a thread. If one ends meanwhile, that thread starts the next one, so the stack does not grow.
        var starting: Set<ObjectIdentifier> = []
        var waiting: [ObjectIdentifier: (number: Int, start: Action)] = [:]
        /// The permits in the order of their arrival. A released permit stays here for a while. Its identifier may be used again by a new
        /// permit, so an entry counts only if its number is the waiting permit's.
        var order: ArraySlice<(permit: ObjectIdentifier, number: Int)> = []
        var lastNumber = 0

        var isUnused: Bool { running.isEmpty && waiting.isEmpty && starting.isEmpty }
    }

    private let limit: Int
    private let queues = Locked<[String: Queue]>([:])

    /// - Parameter limit: The number of requests with each key, at least 1.
    package init(limit: Int) { self.limit = max(limit, 1) }

    func permit(for key: String = "") -> Permit { Permit(self, key) }

    /// Waits for a permit, runs the single made by `make`, and holds the permit until the end or dispose.
    package func running<Element>(_ make: @escaping @Sendable () -> Single<Element>) -> Single<Element> {
        .deferred { [self] in
            let permit = permit()
            let acquired = Single<Void>.create { observer in
                permit.acquire { observer(.success(())) }
                return Disposables.create()
            }
            return acquired.flatMap(make).do(onDispose: { permit.release() })
        }
    }

    // MARK: - Queues

    /// Returns whether the request may start now. Otherwise `start` is called later.
    private func add(_ permit: Permit, _ start: Action, to key: String) -> Bool {
        queues.withLock { queues in
            var queue = queues.removeValue(forKey: key) ?? Queue()
            defer { queues[key] = queue }
            if queue.running.count < limit, queue.waiting.isEmpty {
                queue.running.insert(ObjectIdentifier(permit))
                return true
            }
            queue.lastNumber += 1
            queue.waiting[ObjectIdentifier(permit)] = (queue.lastNumber, start)
            queue.order.append((ObjectIdentifier(permit), queue.lastNumber))
            return false
        }
    }

    private func remove(_ permit: Permit, from key: String) {
        // A waiting permit's closure is released outside the lock.
        let (_, startsNext) = queues.withLock { queues -> (Action?, Bool) in
            guard var queue = queues.removeValue(forKey: key) else { return (nil, false) }
            defer { if !queue.isUnused { queues[key] = queue } }
            if let waited = queue.waiting.removeValue(forKey: ObjectIdentifier(permit)) {
                // Searching for each of thousands of disposed permits would take seconds.
                if queue.order.count > 2 * queue.waiting.count + 64 {
                    queue.order.removeAll { [waiting = queue.waiting] in waiting[$0.permit]?.number != $0.number }
                }
                return (waited.start, false)
            }
            let wasRunning = queue.running.remove(ObjectIdentifier(permit)) != nil
            return (nil, wasRunning && !queue.starting.contains(ObjectIdentifier(permit)) && !queue.waiting.isEmpty)
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
        queues.withLock { queues in
            guard var queue = queues.removeValue(forKey: key) else { return nil }
            defer { if !queue.isUnused { queues[key] = queue } }
            if let started { queue.starting.remove(started) }
            while queue.running.count < limit, let (next, number) = queue.order.popFirst() {
                guard let waiting = queue.waiting[next], waiting.number == number else { continue }
                queue.waiting[next] = nil
                queue.running.insert(next)
                queue.starting.insert(next)
                return (next, waiting.start)
            }
            return nil
        }
    }
}
