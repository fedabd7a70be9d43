import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Exactly one event")
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

    @Test("Only the first event counts")
    func first() {
        let log = Log<Int>()
        let producer = Producer<Int>()
        _ = producer.single.subscribe(onSuccess: log.append)
        producer.send(.success(1))
        producer.send(.success(2))
        producer.send(.failure(TestError()))
        #expect(log.entries == [1])
    }

    @Test("An event of another thread while the body runs releases the resource as soon as the body returns it")
    func elsewhereInBody() {
        let log = Log<String>()
        let queue = DispatchQueue(label: "elsewhere")
        let single = Single<Int>.create { observer in
            let isSent = DispatchSemaphore(value: 0)
            queue.async {
                observer(.success(1))
                isSent.signal()
            }
            isSent.wait()
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
        #expect(log.entries == ["success(1)"])
    }

    @Test("Two producers and a dispose that race, 10,000 times: at most one event, one release, one onDisposed", .longComputing)
    func races() {
        let queue = DispatchQueue(label: "races", attributes: .concurrent)
        for round in 0..<10_000 {
            let events = Log<Int>()
            let ends = Log<String>()
            let producer = Producer<Int> { ends.disposable() }
            let disposable = producer.single.map { $0 * 2 }.flatMap { .just($0) }
                .subscribe(onSuccess: events.append, onDisposed: ends.adds("disposed"))
            let group = DispatchGroup()
            queue.async(group: group) { producer.send(.success(1)) }
            queue.async(group: group) { producer.send(.success(2)) }
            if round.isMultiple(of: 2) { queue.async(group: group) { disposable.dispose() } }
            group.wait()
            disposable.dispose()
            #expect(events.count <= 1)
            if !round.isMultiple(of: 2) { #expect(events.count == 1) }
            #expect(ends.entries == ["release", "disposed"])
        }
    }
}
