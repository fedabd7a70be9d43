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
            ("catch", { $0.map { _ in throw TestError("first") }.catch { _ in throw TestError("catch") } }),
        ]
        for (name, chain) in chains {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            _ = chain(producer.single).subscribe(onFailure: { log.append(($0 as? TestError)?.name ?? "\($0)") })
            producer.send(.success(1))
            #expect(log.entries == [name, "release"])
        }
    }

    @Test("catch and catchAndReturn recover, and let a value through")
    func recovery() async throws {
        #expect(try await Single<Int>.error(TestError()).catch { _ in .just(2) }.value == 2)
        #expect(try await Single<Int>.error(TestError()).catchAndReturn(3).value == 3)
        #expect(try await Single.just(1).catchAndReturn(3).value == 1)
    }

    @Test("deferred calls its factory for each subscription, and fails with the error that the factory throws")
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

    @Test("The closures of do run before and after the event, in order")
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

    @Test("onDispose runs for each onSubscribe, even if onSubscribe disposes the chain")
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
}
