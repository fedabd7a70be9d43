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

    @Test("They do not run for an event that is not passed on, because the closure before it has disposed")
    func disposedBefore() {
        let disposable = SerialDisposable()
        disposable.disposable = producer.single
            .do(onSuccess: { _ in disposable.dispose() }, afterSuccess: { [log] _ in log.append("after") }).subscribe { _ in }
        producer.send(.success(1))
        #expect(log.entries == [])
    }

    /// Runs its source in the subscription itself, in a child, or in a run of its own.
    private static let chains: [(String, @Sendable (Single<Int>) -> Single<Int>)] = [
        ("flatMap", { $0 }), ("the last of zip", { .zip(.just(1), $0) { $0 + $1 } }),
        ("timeout", { $0.timeout(.seconds(1), scheduler: TestScheduler()) }), ("do", { $0.do(onDispose: {}) }),
        ("a group in a group", { .zip([$0.do(onDispose: {})]) { $0[0] } }), ("share", { $0.share() }),
    ]

    @Test("onSubscribed does not run after a dispose, even if the event came first; without one, it runs", arguments: chains)
    func onSubscribed(operator: String, chain: @Sendable (Single<Int>) -> Single<Int>) {
        for isDisposed in [false, true] {
            let (log, disposable) = (Log<String>(), SerialDisposable())
            let source = chain(Single.just(1).do(onSubscribed: log.adds("subscribed")))
            disposable.disposable = producer.single.flatMap { _ in source }.subscribe { _ in
                log.append("event")
                if isDisposed { disposable.dispose() }
            }
            producer.send(.success(1))
            // Disposing a member does not dispose the run of a share, which has its event.
            #expect(log.entries == (isDisposed && `operator` != "share" ? ["event"] : ["event", "subscribed"]))
        }
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
