import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Exactly one event", tenMinutes)
struct ExactlyOnceTests {
    @Test("A body runs once per subscription, and not before it")
    func cold() {
        let log = Log<String>()
        let single = Single<Int>.create { observer in
            log.append("body")
            observer(.success(1))
            return Disposables.create()
        }
        #expect(log.entries == [])
        _ = single.subscribe()
        _ = single.subscribe()
        #expect(log.entries == ["body", "body"])
    }

    @Test("An event of another thread while the body runs releases the resource as soon as the body returns it")
    func elsewhereInBody() {
        let log = Log<String>()
        let single = Single<Int>.create { observer in
            race({ observer(.success(1)) })
            log.append("body ends")
            return log.disposable()
        }
        _ = single.subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        #expect(log.entries == ["event", "body ends", "release", "disposed"])
    }

    @Test("A producer that re-enters from an operator or an observer gets no second event through")
    func reentrant() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let single = producer.single
            .map { value in
                producer.send(.success(value + 1))
                return value
            }
            .flatMap { value in
                producer.send(.success(value + 1))
                return .just(value)
            }
        _ = single.subscribe { event in
            producer.send(.success(9))
            log.append("\(event)")
        }
        producer.send(.success(1))
        producer.send(.failure(TestError()))
        #expect(log.entries == ["success(1)"])
    }

    @Test("Two producers and a dispose that race: at most one event, one release, and one onDisposed after both", .longComputing)
    func races() {
        for round in 0..<rounds(1_000) {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            let disposable = producer.single.map { $0 * 2 }.flatMap { .just($0) }
                .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
            race(
                { producer.send(.success(1)) }, { producer.send(.success(2)) },
                { if round.isMultiple(of: 2) { disposable.dispose() } })
            let entries = log.entries
            #expect(entries.last == "disposed")
            #expect([["release"], ["event", "release"]].dropFirst(round % 2).contains(entries.dropLast().sorted()), "\(entries)")
        }
    }
}
