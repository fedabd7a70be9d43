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
            (
                "onError",
                {
                    $0.map { _ in throw TestError("first") }
                        .do(onError: { _ in throw TestError("onError") }, afterError: { _ in Issue.record("It is too late.") })
                }
            ),
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
}
