import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Time", tenMinutes)
struct TimeTests {
    private let log = Log<String>()
    private let scheduler = TestScheduler()

    @Test("timeout fails in time, and disposes the source")
    func timeout() {
        let producer = Producer<Int> { [log] in log.disposable() }
        let observer = scheduler.observe(producer.single.timeout(.seconds(5), scheduler: scheduler))
        scheduler.advance(by: .milliseconds(4_999))
        #expect(!observer.isDisposed && log.count == 0)
        scheduler.run()
        #expect(observer.events == [.failure(RxError.timeout, at: .seconds(5))])
        #expect(observer.isDisposed && log.entries == ["release"])
        producer.send(.success(1))
        #expect(observer.events.count == 1)
        #expect(RxError.timeout.localizedDescription == "It took too long.")
        #expect("\(RxError.timeout)" == "No event arrived in time.")
    }

    @Test("An earlier event cancels the timer, and releases it", arguments: [true, false])
    func early(isSuccess: Bool) {
        let producer = Producer<Int> { [log] in log.disposable() }
        let isKept = isKept { token in
            _ = producer.single.timeout(.seconds(5), scheduler: scheduler)
                .subscribe(
                    onSuccess: { [log] _ in withExtendedLifetime(token) { log.append("event") } },
                    onFailure: { [log] _ in log.append("event") }, onDisposed: log.adds("disposed"))
            producer.send(isSuccess ? .success(1) : .failure(TestError()))
        }
        #expect(!isKept)
        scheduler.run()
        #expect(log.entries == ["event", "release", "disposed"])
    }

    @Test("Either the event or the timer wins a race, and everything is released", .longComputing)
    func race() {
        for _ in 0..<rounds(500) {
            let (log, scheduler) = (Log<String>(), TestScheduler())
            let producer = Producer<Int> { log.disposable() }
            _ = producer.single.timeout(.seconds(1), scheduler: scheduler)
                .subscribe(
                    onSuccess: { _ in log.append("event") }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
            MiniRxTests.race({ producer.send(.success(1)) }, { scheduler.advance(by: .seconds(1)) })
            #expect(log.entries.last == "disposed" && log.entries.sorted() == ["disposed", "event", "release"])
        }
    }

    @Test("delay delays a value and releases the source first; an error comes at once")
    func delay() {
        let producer = Producer<Int> { [log] in log.disposable() }
        let single = producer.single.delay(.seconds(1), scheduler: scheduler)
        let first = scheduler.observe(single)
        producer.send(.success(1))
        #expect(log.entries == ["release"] && first.events.isEmpty)
        scheduler.run()
        #expect(first.events == [.success(1, at: .seconds(1))])
        let second = scheduler.observe(single)
        producer.send(.failure(TestError()))
        #expect(second.events == [.failure(TestError(), at: .seconds(1))] && second.isDisposed)
    }
}
