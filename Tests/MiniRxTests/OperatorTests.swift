import MiniRx
import TestSupport
import Testing

@Suite("Operators")
struct OperatorTests {
    @Test("A closure that throws makes a failure, and the source is released")
    func throwing() {
        let chains: [(String, @Sendable (Single<Int>) -> Single<Int>)] = [
            ("map", { $0.map { _ in throw TestError("map") } }),
            ("flatMap", { $0.flatMap { _ in throw TestError("flatMap") } }),
            ("do", { $0.do(onSuccess: { _ in throw TestError("do") }) }),
        ]
        for (name, chain) in chains {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            _ = chain(producer.single).subscribe(onFailure: { log.append(($0 as? TestError)?.name ?? "\($0)") })
            producer.send(.success(1))
            #expect(log.entries == [name, "release"])
        }
    }

    @Test("A catch that throws replaces the error")
    func throwingCatch() async {
        await #expect(throws: TestError("second")) {
            try await Single<Int>.error(TestError("first")).catch { _ in throw TestError("second") }.value
        }
    }

    @Test("catch and catchAndReturn recover, and let a value through")
    func recovery() async throws {
        #expect(try await Single<Int>.error(TestError()).catch { _ in .just(2) }.value == 2)
        #expect(try await Single<Int>.error(TestError()).catchAndReturn(3).value == 3)
        #expect(try await Single.just(1).catchAndReturn(3).value == 1)
    }

    @Test("deferred asks its factory at each subscription, and fails with what that throws")
    func deferred() async throws {
        let log = Log<String>()
        let single = Single<Int>.deferred {
            log.append("factory")
            return .just(log.count)
        }
        #expect(log.entries == [])
        #expect(try await single.value == 1)
        #expect(try await single.value == 2)
        await #expect(throws: TestError()) { try await Single<Int>.deferred { throw TestError() }.value }
    }

    @Test("do looks on, before and after, in order")
    func order() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        _ = producer.single
            .do(
                onSuccess: { _ in log.append("before") }, afterSuccess: { _ in log.append("after") },
                onSubscribe: log.adds("subscribe"), onSubscribed: log.adds("subscribed"), onDispose: log.adds("do disposed")
            )
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["subscribe", "subscribed", "before", "event", "after", "release", "do disposed", "disposed"])
    }

    @Test("onSubscribed runs after the body, even behind many operators")
    func onSubscribed() {
        let log = Log<String>()
        let source = Single<Int>.create { _ in
            log.append("body")
            return Disposables.create()
        }
        _ = (0..<100).reduce(source) { single, _ in single.map { $0 } }.do(onSubscribed: log.adds("subscribed")).subscribe()
        #expect(log.entries == ["body", "subscribed"])
    }

    @Test("do sees errors and may replace them")
    func errors() {
        let log = Log<String>()
        _ = Single<Int>.error(TestError("first"))
            .do(onError: { _ in throw TestError("second") }, afterError: { _ in log.append("after") })
            .subscribe(onFailure: { log.append(($0 as? TestError)?.name ?? "\($0)") })
        #expect(log.entries == ["second"])
    }

    @Test("do's onDispose comes on dispose too, before the subscriber's")
    func disposal() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        producer.single.do(onDispose: log.adds("inner")).map { $0 }.do(onDispose: log.adds("outer"))
            .subscribe(onDisposed: log.adds("disposed")).dispose()
        #expect(log.entries == ["release", "inner", "outer", "disposed"])
    }

    @Test("do around the first source of a flatMap is disposed before the second is subscribed to")
    func disposalBeforeNext() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        _ = producer.single.do(onDispose: log.adds("do disposed"))
            .flatMap { _ in Single<Int>.just(2).do(onSubscribe: log.adds("second")) }
            .subscribe(onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release", "do disposed", "second", "disposed"])
    }

    @Test("Operators subscribed to from inside another chain's callback run at once")
    func nested() {
        let log = Log<String>()
        _ = Single.just(1).flatMap { value in
            _ = Single.just(2).flatMap { .just($0) }.subscribe(onSuccess: { log.append("inner \($0)") })
            log.append("after inner")
            return .just(value)
        }.subscribe(onSuccess: { log.append("outer \($0)") })
        #expect(log.entries == ["inner 2", "after inner", "outer 1"])
    }

    @Test("do's onDispose comes for each onSubscribe, also when the chain is disposed in that")
    func balance() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        let subscribe: @Sendable () -> Void = {
            log.append("subscribe")
            disposable.dispose()
        }
        disposable.disposable = producer.single
            .flatMap { _ in Single<Int>.never().do(onSubscribe: subscribe, onDispose: log.adds("do disposed")) }
            .subscribe(onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["subscribe", "do disposed", "disposed"])
    }

    @Test("do's after closures run, also when the event ends other sources")
    func afterOfPart() {
        let scheduler = TestScheduler()
        let log = Log<String>()
        let producer = Producer<Int>()
        let source = producer.single.do(afterSuccess: { _ in log.append("after") })
        let singles: [Single<Int>] = [
            source.timeout(.seconds(1), scheduler: scheduler), .zip(source, Single<Int>.just(1)) { $0 + $1 }, source.do(onDispose: {}),
        ]
        for single in singles {
            _ = single.subscribe()
            producer.send(.success(1))
        }
        #expect(log.entries == ["after", "after", "after"])
    }

    @Test("do's after closures run before onDisposed, however the event comes", arguments: [true, false])
    func after(isSuccess: Bool) {
        let event: SingleEvent<Int> = isSuccess ? .success(1) : .failure(TestError())
        let atOnce = isSuccess ? Single.just(1) : .error(TestError())
        let producer = Producer<Int>()
        let trigger = Producer<Int>()
        let body = Single<Int>.create { observer in
            observer(event)
            return Disposables.create()
        }
        for source in [atOnce, body, producer.single, trigger.single.flatMap { _ in atOnce }, trigger.single.flatMap { _ in body }] {
            let log = Log<String>()
            _ = source.do(afterSuccess: { _ in log.append("after") }, afterError: { _ in log.append("after") })
                .subscribe(
                    onSuccess: { _ in log.append("event") }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
            if producer.subscriptions > 0 { producer.send(event) }
            if trigger.subscriptions > 0 { trigger.send(.success(1)) }
            #expect(log.entries == ["event", "after", "disposed"])
        }
    }
}
