import MiniRx
import TestSupport
import Testing

@Suite("Disposal")
struct DisposalTests {
    enum Ending: CaseIterable { case atOnce, success, failure, dispose, disposeInObserver }

    @Test("The order is event, release, onDisposed, however the event comes", arguments: Ending.allCases)
    func order(ending: Ending) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let atOnce = Single<Int>.create { observer in
            observer(.success(1))
            return log.disposable()
        }
        let disposable = SerialDisposable()
        disposable.disposable = (ending == .atOnce ? atOnce : producer.single).map { $0 }.subscribe(
            onSuccess: { _ in
                if ending == .disposeInObserver { disposable.dispose() }
                log.append("event")
            }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        switch ending {
        case .atOnce: break
        case .success, .disposeInObserver: producer.send(.success(1))
        case .failure: producer.send(.failure(TestError()))
        case .dispose: disposable.dispose()
        }
        #expect(log.entries == (ending == .dispose ? [] : ["event"]) + ["release", "disposed"])
    }

    @Test("A dispose while the body runs waits for the resource, which is disposed as soon as it is returned")
    func duringBody() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        let body = Single<Int>.create { observer in
            disposable.dispose()
            observer(.success(2))
            log.append("body ends")
            return log.disposable()
        }
        disposable.disposable = producer.single.flatMap { _ in body }
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["body ends", "release", "disposed"])
    }

    /// Each operator that runs its source in a subscription of its own, or that starts something behind it.
    static let chains: [(String, @Sendable (Single<Int>) -> Single<Int>)] = [
        ("create", { $0 }), ("flatMap", { $0.flatMap { .just($0) } }), ("catch", { $0.catch { .error($0) } }),
        ("zip", { .zip($0, .just(1)) { $0 + $1 } }), ("timeout", { $0.timeout(.seconds(1), scheduler: TestScheduler()) }),
        ("do", { $0.do(onDispose: {}) }), ("share", { $0.share() }), ("a share in a zip", { .zip([$0.share()]) { $0[0] } }),
        ("delay", { $0.delay(.seconds(1), scheduler: TestScheduler()) }), ("observe", { $0.observe(on: TestScheduler()) }),
        ("subscribe(on:)", { $0.subscribe(on: ImmediateScheduler()) }),
    ]

    @Test("If a dispose races the event, onDisposed still waits for the release", .longComputing, arguments: chains)
    func disposeRacesEvent(operator: String, chain: @Sendable (Single<Int>) -> Single<Int>) {
        for _ in 0..<rounds(1_000) {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            let subscription = chain(producer.single).subscribe(onDisposed: log.adds("disposed"))
            race({ producer.send(.success(1)) }, { subscription.dispose() })
            #expect(log.entries == ["release", "disposed"])
        }
    }

    @Test("flatMap and catch release the earlier source before they subscribe to the next", arguments: [true, false])
    func earlierFirst(isSuccess: Bool) {
        let log = Log<String>()
        let first = Producer<Int> { log.disposable("release first") }
        let second = Single<Int>.create { observer in
            log.append("subscribe second")
            observer(.success(2))
            return log.disposable("release second")
        }
        let chain = isSuccess ? first.single.flatMap { _ in second } : first.single.catch { _ in second }
        _ = chain.subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        first.send(isSuccess ? .success(1) : .failure(TestError()))
        #expect(log.entries == ["release first", "subscribe second", "event 2", "release second", "disposed"])
    }

    @Test("Once dispose has returned inside a closure, none of the chain's other closures runs", arguments: ReentrancyTests.places)
    func noClosureAfterDispose(place: String, chain: @escaping ReentrancyTests.Chain) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        let closure = log.adds("closure")
        disposable.disposable = producer.single.flatMap { _ in
            chain {
                disposable.dispose()
                log.append("dispose")
            }
            .map { value($0, after: closure) }.mapError { value($0, after: closure) }.flatMap { value(.just($0), after: closure) }
            .retry(scheduler: TestScheduler()) { _, _ in value(nil, after: closure) }.catch { _ in value(.just(1), after: closure) }
            .do(onSuccess: { _ in closure() }, afterSuccess: { _ in closure() }, onSubscribed: closure)
        }
        .subscribe(onSuccess: { _ in closure() }, onFailure: { _ in closure() }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        let entries = log.entries
        #expect(!entries.drop { $0 != "dispose" }.contains("closure"), "\(entries)")
        #expect(Set(entries).isSuperset(of: ["release", "dispose", "disposed"]))
    }

    @Test("Once dispose has returned inside a closure, no other source is subscribed to")
    func noNextSource() {
        let chains: [(_ source: Single<Int>, _ dispose: @escaping @Sendable () -> Void, _ next: Single<Int>) -> Single<Int>] = [
            { source, dispose, next in source.flatMap { _ in value(next, after: dispose) } },
            { source, dispose, next in source.flatMap { _ in throw TestError() }.catch { _ in value(next, after: dispose) } },
            { source, dispose, next in source.flatMap { _ in .zip(Single.just(1).do(onSuccess: { _ in dispose() }), next) { $0 + $1 } } },
            { source, dispose, next in source.flatMap { _ in next.do(onSubscribe: dispose).share() } },
        ]
        for chain in chains {
            let log = Log<String>()
            let producer = Producer<Int>()
            let disposable = SerialDisposable()
            let next = Single.just(1).do(onSubscribe: log.adds("next"), onSubscribed: log.adds("next"))
            disposable.disposable = chain(producer.single, disposable.dispose, next).subscribe(onDisposed: log.adds("disposed"))
            producer.send(.success(1))
            #expect(log.entries == ["disposed"])
        }
    }

    @Test("A SerialDisposable disposes the old for the new, and everything that it gets after its end")
    func serial() {
        let log = Log<String>()
        let serial = SerialDisposable()
        let first = Disposables.create(with: log.adds("first"))
        serial.disposable = first
        #expect(log.entries == [] && !serial.isDisposed)
        serial.disposable = log.disposable("second")
        first.dispose()
        #expect(log.entries == ["first"] && !serial.isDisposed)
        serial.dispose()
        serial.dispose()
        serial.disposable = log.disposable("third")
        #expect(serial.isDisposed && log.entries == ["first", "second", "third"])
    }
}
