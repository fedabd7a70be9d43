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
        let single = Single<[Int]>.zip(singles, maxConcurrent: maximum)
        // It is cold: each subscription runs all of them.
        for count in 1...2 {
            let subscription = single.subscribe(onSuccess: { values.append($0) })
            scheduler.run()
            #expect(values.entries == Array(repeating: Array(0..<20), count: count))
            #expect(most.withLock { $0 } == min(maximum, 20))
            subscription.dispose()
        }
    }

    @Test("Thousands of singles come in order, on a flat stack or on other threads", arguments: [true, false])
    func many(isAtOnce: Bool) async throws {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
        let count = rounds(2_000)
        let singles = (0..<count).map { isAtOnce ? Single.just($0).map { $0 } : Single.just($0).observe(on: scheduler) }
        #expect(try await Single<[Int]>.zip(singles, maxConcurrent: 4).value == Array(0..<count))
    }

    @Test("The first failure or a dispose ends the singles that run, and starts no other", arguments: [true, false])
    func failure(isDisposed: Bool) {
        let (log, producer) = (Log<String>(), Producer<Int>())
        let singles = [
            Single<Int>.create { _ in log.disposable("running is released") }, producer.single,
            Single<Int>.deferred {
                log.append("a third was started")
                return .just(3)
            },
        ]
        let subscription = Single<[Int]>.zip(singles, maxConcurrent: 2).subscribe(onFailure: {
            log.append("\(($0 as? TestError)?.name ?? "")")
        })
        if isDisposed { subscription.dispose() }
        producer.send(.failure(TestError("a")))
        #expect(log.entries.sorted() == (isDisposed ? [] : ["a"]) + ["running is released"])
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
            race({ first.send(.failure(TestError())) })
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

    @Test("A number below 1 is an error that says so, and no singles make no values")
    func limits() async throws {
        for maximum in [0, -3] {
            let error = await #expect(throws: (any Error).self) {
                try await Single<[Int]>.zip([Single.just(1)], maxConcurrent: maximum).value
            }
            #expect(error?.localizedDescription == "maxConcurrent is \(maximum); it must be at least 1.")
        }
        #expect(try await Single<[Int]>.zip([Single<Int>](), maxConcurrent: 1).value == [])
    }
}
