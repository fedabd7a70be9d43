import Dispatch
package import MiniRx

/// Limits the number of running requests with the same key. Others wait, first come, first served.
///
/// The key is an origin, or empty for one limit on all requests. A key without requests takes no memory.
package final class RequestLimiter: Sendable {
    /// One request's permit: first waiting in the queue, then running.
    struct Permit: Sendable {
        fileprivate let limiter: RequestLimiter
        fileprivate let key: String
        fileprivate let number: Int

        /// Calls `start` when a place is free: at once, on the thread that releases another permit, or after a dispose on a background queue.
        func acquire(_ start: @escaping @Sendable () -> Void) {
            if limiter.add(self, Action(start)) { start() }
        }

        /// Ends the request, or stops waiting. Only the first call has an effect.
        ///
        /// - Parameter startsNext: Whether the next request starts on this thread.
        func release(startsNext: Bool = true) { limiter.remove(self, startsNext) }
    }

    /// The requests with a key, by number.
    private struct Queue {
        var running: Set<Int> = []
        /// The permits being started by a thread. If one ends meanwhile, that thread starts the next one, so the stack does not grow.
        var starting: Set<Int> = []
        var waiting: [Int: Action] = [:]
        /// The waiting permits in the order of their arrival, and some released ones.
        var order: ArraySlice<Int> = []

        var isUnused: Bool { running.isEmpty && waiting.isEmpty && starting.isEmpty }
    }

    private let limit: Int
    private let state = Locked<(queues: [String: Queue], lastNumber: Int)>(([:], 0))

    /// - Parameter limit: The number of requests with each key, at least 1.
    package init(limit: Int) { self.limit = max(limit, 1) }

    func permit(for key: String = "") -> Permit {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return Permit(limiter: self, key: key, number: number)
    }

    /// Waits for a permit, runs the single made by `make`, and holds the permit until the end or dispose.
    package func running<Element>(_ make: @escaping @Sendable () -> Single<Element>) -> Single<Element> {
        .deferred { [self] in
            let permit = permit()
            let acquired = Single<Void>.create { observer in
                permit.acquire { observer(.success(())) }
                return Disposables.create()
            }
            // A dispose starts no other request: its caller may hold a lock, or dispose the waiting ones next.
            let hasEnded = Locked(false)
            return acquired.flatMap(make).do(
                onSuccess: { _ in hasEnded.withLock { $0 = true } }, onError: { _ in hasEnded.withLock { $0 = true } },
                onDispose: { permit.release(startsNext: hasEnded.withLock { $0 }) })
        }
    }

    // MARK: - Queues

    private func withQueue<Result>(of key: String, _ change: (inout Queue) -> Result) -> Result {
        state.withLock { state in
            var queue = state.queues.removeValue(forKey: key) ?? Queue()
            defer { if !queue.isUnused { state.queues[key] = queue } }
            return change(&queue)
        }
    }

    /// Returns whether the request may start now. Otherwise `start` is called later.
    private func add(_ permit: Permit, _ start: Action) -> Bool {
        withQueue(of: permit.key) { queue in
            if queue.running.count < limit, queue.waiting.isEmpty { return queue.running.insert(permit.number).inserted }
            queue.waiting[permit.number] = start
            queue.order.append(permit.number)
            return false
        }
    }

    private func remove(_ permit: Permit, _ startsNext: Bool) {
        // A waiting permit's closure is released outside the lock.
        let (_, isFree) = withQueue(of: permit.key) { queue -> (Action?, Bool) in
            if let waited = queue.waiting.removeValue(forKey: permit.number) {
                // Searching for each of thousands of disposed permits would take seconds.
                if queue.order.count > 2 * queue.waiting.count + 64 {
                    queue.order.removeAll { [waiting = queue.waiting] in waiting[$0] == nil }
                }
                return (waited, false)
            }
            let wasRunning = queue.running.remove(permit.number) != nil
            return (nil, wasRunning && !queue.starting.contains(permit.number) && !queue.waiting.isEmpty)
        }
        guard isFree else { return }
        if startsNext { start(permit.key) } else { DispatchQueue.global().async { [self] in start(permit.key) } }
    }

    private func start(_ key: String) {
        var started: Int?
        while let (next, start) = takeNext(of: key, after: started) {
            start()
            started = next
        }
    }

    /// The next request to start on this thread; `nil` ends the loop.
    private func takeNext(of key: String, after started: Int?) -> (Int, Action)? {
        withQueue(of: key) { queue in
            if let started { queue.starting.remove(started) }
            while queue.running.count < limit, let next = queue.order.popFirst() {
                guard let start = queue.waiting.removeValue(forKey: next) else { continue }
                queue.running.insert(next)
                queue.starting.insert(next)
                return (next, start)
            }
            return nil
        }
    }
}
