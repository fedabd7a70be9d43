import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Zip of some at a time", tenMinutes)
struct ZipMaxConcurrentTests {
    @Test("At most so many run at the same time, and their values come in the order of the input", arguments: [1, 2, 4, 7, 100])
    func order(maximum: Int) {
        let scheduler = TestScheduler()
        let (running, most) = (Locked(0), Locked(0))
        let singles = (0..<20).map { number in
            Single<Int>.deferred {
                let now = running.withLock { running in
                    running += 1
                    return running
                }
                most.withLock { $0 = max($0, now) }
                // Later ones are faster.
                return .just(number).delay(.seconds(20 - number), scheduler: scheduler)
            }.do(onSuccess: { _ in running.withLock { $0 -= 1 } })
        }
        let values = Log<[Int]>()
        let subscription = Single<[Int]>.zip(singles, maxConcurrent: maximum).subscribe(onSuccess: { values.append($0) })
        scheduler.run()
        #expect(values.entries == [Array(0..<20)])
        #expect(most.withLock { $0 } == min(maximum, 20))
        subscription.dispose()
    }

    @Test("Ten thousand singles that succeed at once take no deep stack")
    func flat() async throws {
        let singles = (0..<10_000).map { Single.just($0).map { $0 } }
        #expect(try await Single<[Int]>.zip(singles, maxConcurrent: 4).value == Array(0..<10_000))
    }

    @Test("Ten thousand on other threads, four at a time, all come")
    func threads() async throws {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
        let singles = (0..<rounds(10_000)).map { Single.just($0).observe(on: scheduler) }
        #expect(try await Single<[Int]>.zip(singles, maxConcurrent: 4).value == Array(0..<rounds(10_000)))
    }

    @Test("The first failure is delivered, ends those that run, and starts no other")
    func failure() {
        let (log, producer) = (Log<String>(), Producer<Int>())
        let singles = [
            Single<Int>.create { _ in log.disposable("running is released") }, producer.single,
            Single<Int>.deferred {
                log.append("a third was started")
                return .just(3)
            },
        ]
        let subscription = Single<[Int]>.zip(singles, maxConcurrent: 2).subscribe(onFailure: { log.append("\($0)") })
        producer.send(.failure(TestError("a")))
        #expect(log.entries.sorted() == ["TestError(name: \"a\")", "running is released"])
        subscription.dispose()
    }

    @Test("No single starts while the failure is delivered")
    func valueDuringFailure() {
        let started = Log<Int>()
        let (first, second) = (Producer<Int>(), Producer<Int>())
        let third = Single<Int>.deferred {
            started.append(3)
            return .never()
        }
        let subscription = Single<[Int]>.zip([first.single, second.single, third], maxConcurrent: 2)
            .subscribe(onFailure: { _ in second.send(.success(2)) })
        first.send(.failure(TestError()))
        #expect(started.entries == [])
        subscription.dispose()
    }

    @Test("No single starts after a failure that comes from another thread while the singles start")
    func failureDuringStart() {
        let started = Log<Int>()
        let first = Producer<Int>()
        let second = Single<Int>.deferred {
            let thread = DispatchGroup()
            DispatchQueue.global().async(group: thread) { first.send(.failure(TestError())) }
            thread.wait()
            return .never()
        }
        let third = Single<Int>.deferred {
            started.append(3)
            return .never()
        }
        let events = Log<SingleEvent<[Int]>>()
        let subscription = Single<[Int]>.zip([first.single, second, third], maxConcurrent: 3).subscribe { events.append($0) }
        #expect(events.count == 1)
        #expect(started.entries == [])
        subscription.dispose()
    }

    @Test("A dispose ends those that run, and starts no other")
    func dispose() {
        let log = Log<String>()
        let singles = (0..<4).map { number in
            Single<Int>.create { _ in
                log.append("start \(number)")
                return log.disposable("end \(number)")
            }
        }
        Single<[Int]>.zip(singles, maxConcurrent: 2).subscribe { _ in }.dispose()
        #expect(log.entries.sorted() == ["end 0", "end 1", "start 0", "start 1"])
    }

    @Test("It is cold: each subscription has its own turns")
    func cold() async throws {
        let single = Single<[Int]>.zip((0..<3).map { Single.just($0).map { $0 } }, maxConcurrent: 1)
        for _ in 0..<2 { #expect(try await single.value == [0, 1, 2]) }
        #expect(try await Single<[Int]>.zip([Single<Int>](), maxConcurrent: 1).value == [])
    }

    @Test("A number below 1 is an error that says so", arguments: [0, -3])
    func none(maximum: Int) async {
        let error = await #expect(throws: (any Error).self) {
            try await Single<[Int]>.zip([Single.just(1)], maxConcurrent: maximum).value
        }
        #expect(error?.localizedDescription == "maxConcurrent is \(maximum); it must be at least 1.")
    }

    @Test("Nothing is kept")
    func memory() {
        let producer = Producer<Int>()
        weak var token: Token?
        do {
            let own = Token()
            token = own
            let singles = [producer.single.map { [own] value in withExtendedLifetime(own) { value } }, Single.just(1).map { $0 }]
            let subscription = Single<[Int]>.zip(singles, maxConcurrent: 1).subscribe { _ in }
            subscription.dispose()
        }
        #expect(token == nil)
    }
}
