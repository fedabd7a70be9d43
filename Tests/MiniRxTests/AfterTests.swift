import MiniRx
import TestSupport
import Testing

/// The `after…` closures run once their event is passed on.
@Suite("Closures that run after the event")
struct AfterTests {
    private let log = Log<String>()
    private let producer = Producer<Int>()

    enum Place: CaseIterable { case source, sourceOfShare, bridge, lastOfZip }

    @Test("They run when the observer disposes", arguments: Place.allCases)
    func disposed(place: Place) {
        let disposable = SerialDisposable()
        let single = producer.single.do(afterSuccess: { [log] _ in log.append("after") })
        let chain: Single<Int> =
            switch place {
            case .source: single
            case .sourceOfShare: single.share()
            case .bridge: .create { single.subscribe($0) }
            case .lastOfZip: .zip(.just(1), single) { $0 + $1 }
            }
        disposable.disposable = chain.subscribe { _ in disposable.dispose() }
        producer.send(.success(1))
        #expect(log.entries == ["after"])
    }

    @Test("The chain is torn down after they have run, even if an operator behind them disposes")
    func tornDown() {
        let disposable = SerialDisposable()
        disposable.disposable = producer.single.do(afterSuccess: { [log] _ in log.append("after") })
            .map { value($0, after: disposable.dispose) }.subscribe(onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["after", "disposed"])
    }

    @Test("onSubscribed runs behind a bridge when the event comes later, and before a share of which a member disposes")
    func onSubscribed() {
        let inner = producer.single.flatMap { [log] in Single.just($0).do(onSubscribed: log.adds("subscribed")) }
        _ = Single<Int>.create { inner.subscribe($0) }.subscribe { _ in log.append("event") }
        producer.send(.success(1))
        let serial = SerialDisposable()
        serial.disposable = inner.share().subscribe { [log] _ in
            serial.dispose()
            log.append("shared event")
        }
        producer.send(.success(1))
        #expect(log.entries == ["event", "subscribed", "shared event", "subscribed"])
    }

    @Test("A chain behind create(work:) does not run in a cancelled task")
    func task() async throws {
        let single = Single<Int>.create { 1 }.flatMap { value in
            .deferred {
                try Task.checkCancellation()
                return .just(value)
            }
        }
        #expect(try await single.value == 1)
    }
}
