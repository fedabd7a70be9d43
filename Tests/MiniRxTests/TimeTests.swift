import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Time")
struct TimeTests {
    @Test("timeout fails in time, and disposes the source")
    func timeout() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let producer = Producer<Int> { log.disposable() }
        _ = producer.single.timeout(.seconds(5), scheduler: scheduler)
            .subscribe(onFailure: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
        scheduler.advance(by: .milliseconds(4_999))
        #expect(log.entries == [])
        scheduler.advance(by: .milliseconds(1))
        #expect(log.entries == ["No event arrived in time.", "release", "disposed"])
        producer.send(.success(1))
        #expect(log.count == 3)
    }

    @Test("An earlier event cancels the timer, and lets it go", arguments: [true, false])
    func early(isSuccess: Bool) {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let producer = Producer<Int> { log.disposable() }
        weak var token: Token?
        do {
            let held = Token()
            token = held
            _ = producer.single.timeout(.seconds(5), scheduler: scheduler)
                .subscribe(
                    onSuccess: { _ in withExtendedLifetime(held) { log.append("event") } }, onFailure: { _ in log.append("event") },
                    onDisposed: log.adds("disposed"))
        }
        producer.send(isSuccess ? .success(1) : .failure(TestError()))
        #expect(token == nil)
        scheduler.run()
        #expect(log.entries == ["event", "release", "disposed"])
    }

    @Test("An event that races the timer, 5,000 times: one of them, and everything is released", .longComputing)
    func race() {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
        let queue = DispatchQueue(label: "race", attributes: .concurrent)
        for _ in 0..<5_000 {
            let events = Log<String>()
            let ends = Log<String>()
            let producer = Producer<Int> { ends.disposable() }
            let group = DispatchGroup()
            group.enter()
            _ = producer.single.timeout(.nanoseconds(0), scheduler: scheduler)
                .subscribe(
                    onSuccess: { events.append("\($0)") }, onFailure: { events.append("\($0)") },
                    onDisposed: {
                        ends.append("disposed")
                        group.leave()
                    })
            queue.async(group: group) { producer.send(.success(1)) }
            group.wait()
            #expect(events.entries == ["1"] || events.entries == ["No event arrived in time."])
            #expect(ends.entries == (producer.subscriptions == 0 ? [] : ["release"]) + ["disposed"])
        }
    }

    @Test("A source that emits at once cancels the timer, and dispose ends both")
    func ends() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        _ = Single.just(1).timeout(.seconds(5), scheduler: scheduler).subscribe(onSuccess: { _ in log.append("event") })
        let producer = Producer<Int> { log.disposable() }
        producer.single.timeout(.seconds(5), scheduler: scheduler).subscribe(onDisposed: log.adds("disposed")).dispose()
        scheduler.run()
        #expect(log.entries == ["event", "release", "disposed"])
    }

    @Test("delay delays a value and releases the source first; an error comes at once")
    func delay() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let producer = Producer<Int> { log.disposable() }
        let single = producer.single.delay(.seconds(1), scheduler: scheduler)
        _ = single.subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release"])
        scheduler.advance(by: .seconds(1))
        #expect(log.entries == ["release", "event 1", "disposed"])
        _ = single.subscribe(onFailure: { _ in log.append("error") })
        producer.send(.failure(TestError()))
        #expect(log.entries.suffix(2) == ["error", "release"])
    }

    @Test("subscribe(on:) subscribes on its scheduler, and not after a dispose")
    func subscribeOn() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let single = Single<Int>.deferred {
            log.append("subscribed")
            return .just(1)
        }.subscribe(on: scheduler)
        _ = single.subscribe(onSuccess: { log.append("event \($0)") })
        single.subscribe().dispose()
        #expect(log.entries == [])
        scheduler.run()
        #expect(log.entries == ["subscribed", "event 1"])
    }

    @Test("The time of timeout counts from before the source's body runs")
    func timeoutFromTheStart() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let source = Single<Int>.create { _ in
            log.append("body")
            scheduler.advance(by: .seconds(5))
            return log.disposable()
        }
        _ = source.timeout(.seconds(5), scheduler: scheduler)
            .subscribe(onFailure: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
        #expect(log.entries == ["body", "No event arrived in time.", "release", "disposed"])
    }
}
