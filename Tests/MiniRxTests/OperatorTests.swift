import MiniRx
import TestSupport
import Testing

@Suite("Operators")
struct OperatorTests {
    @Test("A closure that throws makes a failure, and the source and the closure are released")
    func throwing() {
        @Sendable func fail<Value>(_ name: String, _ token: Token) throws -> Value { throw withExtendedLifetime(token) { TestError(name) } }
        let failed = { @Sendable (single: Single<Int>) in single.flatMap { _ in Single<Int>.error(TestError("first")) } }
        let chains: [(String, @Sendable (Single<Int>, Token) -> Single<Int>)] = [
            ("map", { source, token in source.map { _ in try fail("map", token) } }),
            ("flatMap", { source, token in source.flatMap { _ in try fail("flatMap", token) } }),
            ("deferred", { source, token in source.flatMap { _ in .deferred { try fail("deferred", token) } } }),
            ("zip", { source, token in .zip(source, .just(1)) { _, _ in try fail("zip", token) } }),
            ("onSuccess", { source, token in source.do(onSuccess: { _ in try fail("onSuccess", token) }) }),
            (
                "onError",
                { source, token in failed(source).do(onError: { _ in try fail("onError", token) }, afterError: { _ in Issue.record() }) }
            ),
            ("catch", { source, token in failed(source).catch { _ in try fail("catch", token) } }),
            ("mapError", { source, token in failed(source).mapError { _ in withExtendedLifetime(token) { TestError("mapError") } } }),
        ]
        for (name, chain) in chains {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            let isKept = isKept { token in
                _ = chain(producer.single, token).subscribe(onFailure: { log.append(($0 as? TestError)?.name ?? "\($0)") })
                producer.send(.success(1))
            }
            #expect(!isKept, "\(name)")
            #expect(log.entries.sorted() == [name, "release"].sorted())
        }
    }

    @Test("The closures of do run in order, even if operators stand before it")
    func order() {
        let log = Log<String>()
        let producer = Producer<Int> {
            log.append("body")
            return log.disposable()
        }
        _ = (0..<100).reduce(producer.single) { single, _ in single.map { $0 } }
            .do(
                onSuccess: { _ in log.append("before") }, afterSuccess: { _ in log.append("after") },
                onSubscribe: log.adds("subscribe"), onSubscribed: log.adds("subscribed"), onDispose: log.adds("do disposed")
            )
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["subscribe", "body", "subscribed", "before", "event", "after", "release", "do disposed", "disposed"])
    }

    @Test("onDispose runs after each onSubscribe, even if onSubscribe disposes the chain")
    func balance() {
        let (log, producer, disposable) = (Log<String>(), Producer<Int>(), SerialDisposable())
        disposable.disposable = producer.single
            .flatMap { _ in Single<Int>.never().do(onSubscribe: disposable.dispose, onDispose: log.adds("do disposed")) }.subscribe()
        producer.send(.success(1))
        #expect(log.entries == ["do disposed"])
    }
}
