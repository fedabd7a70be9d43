import MiniRx

/// Lets at most some singles run at the same time. Others wait for their turn, first come, first served.
final class ConcurrencyLimit: Sendable {
    private let gate: Gate

    init(_ maximum: Int) { gate = Gate(limit: maximum) }

    /// Returns a single that runs `single` when it is its turn.
    func limit<Element>(_ single: Single<Element>) -> Single<Element> {
        .deferred { [gate] in
            let ticket = gate.ticket()
            let turn = Single<Void>.create { observer in
                ticket.enter { observer(.success(())) }
                return Disposables.create()
            }
            return turn.flatMap { single }.do(onDispose: { ticket.leave() })
        }
    }
}
