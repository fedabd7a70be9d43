import Foundation
import MiniRx

/// Lets at most some singles run at the same time. Others wait for their turn, first come, first served.
final class ConcurrencyLimit: Sendable {
    private struct State {
        var count = 0
        /// The singles that wait for their turn, by number.
        var waiting: [Int: Single<Void>.SingleObserver] = [:]
        /// No single with this number or a lower one waits.
        var lastTurn = 0
        var running: Set<Int> = []
        /// The threads that are giving turns.
        var threads: Set<ObjectIdentifier> = []

        mutating func add(_ number: Int, _ observer: @escaping Single<Void>.SingleObserver) {
            waiting[number] = observer
            // Singles that start on different threads may arrive out of order.
            lastTurn = min(lastTurn, number - 1)
        }

        mutating func takeTurn(maximum: Int) -> Single<Void>.SingleObserver? {
            guard running.count < maximum, !waiting.isEmpty else { return nil }
            while true {
                lastTurn += 1
                guard let observer = waiting.removeValue(forKey: lastTurn) else { continue }
                running.insert(lastTurn)
                return observer
            }
        }
    }

    private let maximum: Int
    private let state = Locked(State())

    init(_ maximum: Int) { self.maximum = maximum }

    /// Returns a single that runs `single` when it is its turn.
    func limit<Element>(_ single: Single<Element>) -> Single<Element> {
        .deferred { [self] in
            let number = state.withLock { state in
                state.count += 1
                return state.count
            }
            let turn = Single<Void>.create { observer in
                self.state.withLock { $0.add(number, observer) }
                self.giveTurns()
                return Disposables.create()
            }
            return turn.flatMap { single }.do(onDispose: { self.leave(number) })
        }
    }

    private func leave(_ number: Int) {
        let waiting = state.withLock { state in
            state.running.remove(number)
            return state.waiting.removeValue(forKey: number)
        }
        withExtendedLifetime(waiting) { giveTurns() }
    }

    /// Starts singles while there is room. A single that ends at once makes room for the next one in this loop, not deeper in the stack.
    private func giveTurns() {
        let thread = ObjectIdentifier(Thread.current)
        guard state.withLock({ $0.threads.insert(thread).inserted }) else { return }
        while let observer = state.withLock({ $0.takeTurn(maximum: maximum) }) { observer(.success(())) }
        _ = state.withLock { $0.threads.remove(thread) }
    }
}
