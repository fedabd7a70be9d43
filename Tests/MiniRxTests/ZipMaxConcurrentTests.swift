import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("zip(maxConcurrent:)", tenMinutes)
struct ZipMaxConcurrentTests {
    @Test(
        "At most maxConcurrent singles run at the same time, and their values are in the order of the input",
        arguments: [1, 2, 4, 7, 100, .max])
    func order(maximum: Int) {
        let scheduler = TestScheduler()
        let (running, most) = (Locked(0), Locked(0))
        let singles = (0..<20).map { number in
            // Later ones are faster.
            Single.just(number).delay(.seconds(20 - number), scheduler: scheduler).do(
                onSuccess: { _ in running.withLock { $0 -= 1 } },
                onSubscribe: {
                    running.withLock { $0 += 1 }
                    most.withLock { $0 = max($0, running.withLock { $0 }) }
                })
        }
        let values = Log<[Int]>()
        let single = Single<[Int]>.zip(singles, maxConcurrent: maximum)
        // Each subscription runs all of them.
        for count in 1...2 {
            _ = single.subscribe(onSuccess: values.append)
            scheduler.run()
            #expect(values.entries == Array(repeating: Array(0..<20), count: count))
            #expect(most.withLock { $0 } == min(maximum, 20))
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
            Single.just(3).do(onSubscribe: log.adds("a third was started")),
        ]
        let subscription = Single<[Int]>.zip(singles, maxConcurrent: 2).subscribe(onFailure: { log.append("\($0)") })
        if isDisposed { subscription.dispose() }
        producer.send(.failure(TestError("a")))
        #expect(log.entries.sorted() == (isDisposed ? [] : ["\(TestError("a"))"]) + ["running is released"])
        subscription.dispose()
    }

    @Test("After a failure, no single starts", arguments: [true, false])
    func afterFailure(comesDuringStart: Bool) {
        let log = Log<String>()
        let (first, second) = (Producer<Int>(), Producer<Int>())
        let fail: @Sendable () -> Void = { first.send(.failure(TestError())) }
        let failing = Single<Int>.deferred {
            race(fail)
            return .never()
        }
        let third = Single<Int>.never().do(onSubscribe: log.adds("a third was started"))
        let singles = [first.single, comesDuringStart ? failing : second.single, third]
        let subscription = Single<[Int]>.zip(singles, maxConcurrent: comesDuringStart ? 3 : 2).subscribe { _ in
            second.send(.success(2))
            log.append("event")
        }
        if !comesDuringStart { fail() }
        #expect(log.entries == ["event"])
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
