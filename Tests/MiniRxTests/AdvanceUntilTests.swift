import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("advance(by:until:)", tenMinutes)
struct AdvanceUntilTests {
    private let scheduler = TestScheduler()
    private let attempts = Log<Int>()
    private var elapsed: UInt64 { (scheduler.now.uptimeNanoseconds - TestScheduler().now.uptimeNanoseconds) / 1_000_000_000 }

    /// Succeeds at the third attempt, after two waits of ten seconds.
    private func load() async throws -> Int {
        try await Single.deferred { [attempts] in
            attempts.append(attempts.count + 1)
            return attempts.count < 3 ? .error(TestError()) : .just(attempts.count)
        }
        .retry(scheduler: scheduler) { _, _ in .seconds(10) }.value
    }

    @Test("A retry of an async function ends, and waits for ever if the time was moved before the function began its wait")
    func asyncRetry() async throws {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        async let result = {
            for await _ in gate {}
            return try await load()
        }()
        scheduler.advance(by: .seconds(60))
        scheduler.run()
        opener.finish()
        await eventually { attempts.count == 1 }
        #expect(attempts.count == 1, "The wait began after the time was moved, so nothing ends it.")

        try await scheduler.advance(by: .seconds(1)) { attempts.count == 3 }
        #expect(try await result == 3)
        #expect(elapsed == 80)
    }

    @Test("The time moves by whole steps while an action waits, and stands still while none does")
    func steps() async throws {
        let calls = Log<UInt64>()
        _ = scheduler.schedule(after: .seconds(5)) {}
        try await scheduler.advance(by: .seconds(2)) {
            calls.append(elapsed)
            return calls.count == 6
        }
        #expect(calls.entries == [0, 2, 4, 6, 6, 6])
    }

    @Test("A condition that holds from the beginning moves nothing")
    func atOnce() async throws {
        _ = scheduler.schedule(after: .seconds(0)) { attempts.append(1) }
        try await scheduler.advance(by: .seconds(1)) { true }
        #expect(attempts.count == 0 && elapsed == 0)
    }

    @Test("If the condition does not hold in time, the error has the time and the times of the waiting actions")
    func unmet() async throws {
        for seconds in [90, 30, 60, 120, 150, 180] { _ = scheduler.schedule(after: .seconds(seconds)) {} }
        scheduler.schedule(after: .seconds(1)) {}.dispose()
        let error = await #expect(throws: (any Error).self) {
            try await scheduler.advance(by: .seconds(0), within: .milliseconds(1)) { false }
        }
        #expect(
            error.map { "\($0)" } == """
                The condition did not hold within 0.001 s of real time. The virtual time is 0.0 s. \
                Waiting actions: 6, due at 30.0 s, 60.0 s, 90.0 s, 120.0 s, 150.0 s, ….
                """)
        let idle = await #expect(throws: (any Error).self) {
            try await TestScheduler().advance(by: .seconds(1), within: .nanoseconds(0)) { false }
        }
        #expect(
            idle.map { "\($0)" }?.hasSuffix("No action waits: has the code failed, or does a part of it not use this scheduler?") == true)
    }

    @Test("It ends when its task is cancelled, and throws what the condition throws")
    func ends() async throws {
        let task = Task { try await scheduler.advance(by: .seconds(1), within: .never) { false } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: TestError.self) { try await scheduler.advance(by: .seconds(1)) { throw TestError() } }
    }

    @Test("The condition of a main-actor test reads the test's state")
    @MainActor
    func onTheMainActor() async throws {
        var text = ""
        let subscription = Single.just("Tea").delay(.seconds(30), scheduler: scheduler).observe(on: MainActor.shared)
            .subscribe(onSuccess: { text = $0 })
        try await scheduler.advance(by: .seconds(1)) { text == "Tea" }
        #expect(elapsed == 30)
        subscription.dispose()
    }

    @Test("Whenever the function begins its waits, it ends")
    func race() async throws {
        for _ in 0..<rounds(300) {
            let scheduler = TestScheduler()
            let ends = Log<Int>()
            async let work: Void = {
                for number in 1...3 {
                    await Task.yield()
                    ends.append(try await Single.just(number).delay(.seconds(7), scheduler: scheduler).value)
                }
            }()
            try await scheduler.advance(by: .seconds(2)) { ends.count == 3 }
            try await work
        }
    }
}
