import Foundation

/// Lets at most some singles run at the same time. Others wait for their turn, first come, first served.
package final class ConcurrencyLimit: Sendable {
    private struct State {
        var free: Int
        /// What starts each single that waits, by its number.
        var waiting: [Int: Action] = [:]
        /// No single with a lower number waits.
        var first = 0
        var last = 0
        /// Threads on which singles are being started.
        var threads: Set<ObjectIdentifier> = []

        mutating func takeFirst() -> Action? {
            guard free > 0, !waiting.isEmpty else { return nil }
            free -= 1
            while true {
                first += 1
                if let action = waiting.removeValue(forKey: first) { return action }
            }
        }
    }

    private let state: Locked<State>

    package init(_ maximum: Int) { state = Locked(State(free: maximum)) }

    /// Returns a single that runs `single` when it is its turn.
    package func limit<Element>(_ single: Single<Element>) -> Single<Element> {
        .create { [self] observer in
            let running = SerialDisposable()
            let number = state.withLock { state in
                state.last += 1
                state.waiting[state.last] = Action { running.disposable = single.subscribe(observer) }
                return state.last
            }
            startAll()
            return Disposables.create {
                running.dispose()
                self.leave(number)
            }
        }
    }

    /// Starts no more of those that wait.
    package func close() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        withExtendedLifetime(waiting) {}
    }

    private func leave(_ number: Int) {
        let waiting = state.withLock { state in
            let waiting = state.waiting.removeValue(forKey: number)
            if waiting == nil { state.free += 1 }
            return waiting
        }
        if waiting == nil { startAll() }
    }

    /// Starts those whose turn it is. One that ends at once makes place for the next in this loop, and not deeper in the stack.
    private func startAll() {
        let thread = ObjectIdentifier(Thread.current)
        guard state.withLock({ $0.threads.insert(thread).inserted }) else { return }
        while let start = state.withLock({ $0.takeFirst() }) { start() }
        _ = state.withLock { $0.threads.remove(thread) }
    }
}
