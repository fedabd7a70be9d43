import MiniRx
import TestSupport
import Testing

/// The `after…` closures run once their event is passed on.
@Suite("Closures that run after the event")
struct AfterTests {
    private let log = Log<String>()

    private func logging(_ single: Single<Int>) -> Single<Int> { single.do(afterSuccess: { [log] _ in log.append("after") }) }

    @Test("They run behind a bridge, which releases its resource at the end", arguments: [0, 1, 2])
    func bridge(kind: Int) {
        let producer = Producer<Int>()
        let inner = logging(producer.single)
        let bridge = Single<Int>.create { observer in
            let subscription = inner.subscribe(observer)
            let serial = SerialDisposable()
            serial.disposable = subscription
            return [subscription, serial, Disposables.create { subscription.dispose() }][kind]
        }
        _ = bridge.subscribe { _ in log.append("event") }
        producer.send(.success(1))
        #expect(log.entries == ["event", "after"])
    }

    @Test("onSubscribed runs behind a bridge when the event comes later")
    func onSubscribed() {
        let producer = Producer<Int>()
        let inner = producer.single.flatMap { [log] in Single.just($0).do(onSubscribed: log.adds("subscribed")) }
        _ = Single<Int>.create { inner.subscribe($0) }.subscribe { _ in log.append("event") }
        producer.send(.success(1))
        #expect(log.entries == ["event", "subscribed"])
    }

    @Test("They run when the observer disposes the subscription behind a bridge")
    func disposedBridge() {
        let producer = Producer<Int>()
        let inner = logging(producer.single)
        let disposable = SerialDisposable()
        disposable.disposable = Single<Int>.create { inner.subscribe($0) }.subscribe { _ in disposable.dispose() }
        producer.send(.success(1))
        #expect(log.entries == ["after"])
    }

    @Test("They run before onDisposed, though an operator behind them disposes")
    func disposedByOperator() {
        let producer = Producer<Int>()
        let serial = SerialDisposable()
        serial.disposable = logging(producer.single)
            .map { value in
                serial.dispose()
                return value
            }
            .subscribe(onSuccess: { [log] _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["after", "disposed"])
    }

    @Test("They run when the observer disposes, in whatever way", arguments: [0, 1, 2])
    func disposed(kind: Int) {
        let producer = Producer<Int>()
        let serial = SerialDisposable()
        let bag = Locked<DisposeBag?>(DisposeBag())
        let subscription = logging(producer.single).subscribe { _ in
            switch kind {
            case 0: serial.dispose()
            case 1: serial.disposable.dispose()
            default: _ = bag.withLock { $0.take() }
            }
        }
        serial.disposable = subscription
        bag.withLock { $0 }?.insert(subscription)
        producer.send(.success(1))
        #expect(log.entries == ["after"])
    }

    @Test("They do not run for a part that zip has ended before its event was delivered")
    func endedPart() {
        let (first, second) = (Producer<Int>(), Producer<Int>())
        let part = logging(first.single.do(onSuccess: { _ in second.send(.failure(TestError())) }))
        _ = Single<[Int]>.zip([part, second.single]).subscribe { [log] _ in log.append("event") }
        first.send(.success(1))
        #expect(log.entries == ["event"])
    }

    @Test("They run for the single that completes a zip, even if the observer disposes the zip", arguments: [true, false])
    func endingPart(isDisposed: Bool) {
        let (first, second) = (Producer<Int>(), Producer<Int>())
        let serial = SerialDisposable()
        serial.disposable = Single<[Int]>.zip([first.single, logging(second.single)]).subscribe { _ in if isDisposed { serial.dispose() } }
        first.send(.success(1))
        second.send(.success(2))
        #expect(log.entries == ["after"])
    }

    @Test("They run before a share, even if one of them disposes")
    func share() {
        let producer = Producer<Int>()
        let serial = SerialDisposable()
        let source = producer.single.flatMap { [log] value in
            Single.just(value).do(afterSuccess: { _ in serial.dispose() }, onSubscribed: log.adds("subscribed"))
        }
        serial.disposable = source.share().subscribe { [log] _ in log.append("event") }
        producer.send(.success(1))
        #expect(log.entries == ["event", "subscribed"])
    }

    @Test("What follows create(work:) does not run in a task that is cancelled")
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
