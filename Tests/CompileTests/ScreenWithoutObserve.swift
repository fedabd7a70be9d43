// expect: warning: main actor-isolated property 'items' can not be mutated from a Sendable closure
import MiniRx

@MainActor
final class Screen {
    var items: [String] = []

    func show(_ single: Single<[String]>) -> any Disposable { single.subscribe(onSuccess: { self.items = $0 }) }
}
