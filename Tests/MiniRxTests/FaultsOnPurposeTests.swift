import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Each thing that may fail fails in turn", tenMinutes)
struct FaultsOnPurposeTests {
    /// The parts of a chain: closures that may throw, sources that may fail, and a scheduler that may lose an action.
    struct Run: Sendable {
        let faults: Faults
        let scheduler: LosingScheduler
        let token = Token()
        let open = Locked(0)

        init(_ faults: Faults) { (self.faults, scheduler) = (faults, LosingScheduler(faults: faults)) }

        var source: Single<Int> {
            .create { observer in
                open.withLock { $0 += 1 }
                observer(faults.isNext() ? .failure(Faults.Failure()) : .success(1))
                return Disposables.create { open.withLock { $0 -= 1 } }
            }
        }

        func value() throws -> Int {
            try faults.call()
            return withExtendedLifetime(token) { 1 }
        }

        func single() throws -> Single<Int> {
            try faults.call()
            return withExtendedLifetime(token) { source }
        }

        var failed: Single<Int> { source.flatMap { _ in .error(TestError()) } }
    }

    struct LosingScheduler: Scheduler {
        let time = TestScheduler()
        let faults: Faults
        let hasLost = Locked(false)

        var now: DispatchTime { time.now }

        func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
            guard faults.isNext() else { return time.schedule(after: delay, action) }
            hasLost.withLock { $0 = true }
            return Disposables.create()
        }
    }

    static let chains: [(String, @Sendable (Run) -> Single<Int>)] = [
        ("create", { $0.source }),
        ("deferred", { run in .deferred { try run.single() } }),
        ("map", { run in run.source.map { _ in try run.value() } }),
        ("mapError", { run in run.source.mapError { error in withExtendedLifetime(run.token) { error } } }),
        ("flatMap", { run in run.source.flatMap { _ in try run.single() } }),
        ("catch", { run in run.failed.catch { _ in try run.single() } }),
        ("retry", { $0.source.retry(2) }),
        ("retry, with a delay", { $0.failed.retry(scheduler: $0.scheduler) { failures, _ in failures < 3 ? .seconds(1) : nil } }),
        ("zip of two", { run in .zip(run.source, run.source) { _, _ in try run.value() } }),
        ("zip of many", { run in .zip(Array(repeating: run.source, count: 5)) { _ in try run.value() } }),
        ("do", { run in run.source.do(onDispose: { withExtendedLifetime(run.token) {} }) }),
        ("delay", { $0.source.delay(.seconds(1), scheduler: $0.scheduler) }),
        ("timeout", { $0.source.delay(.seconds(2), scheduler: $0.scheduler).timeout(.seconds(1), scheduler: $0.scheduler) }),
        ("observe(on:)", { $0.source.observe(on: $0.scheduler) }),
        ("subscribe(on:)", { $0.source.subscribe(on: $0.scheduler) }),
        (
            "share",
            { run in
                let shared = run.source.delay(.seconds(1), scheduler: run.scheduler).share()
                return .zip(shared.flatMap { _ in try run.single() }, shared) { _, _ in try run.value() }
            }
        ),
        (
            "all of them",
            { run in
                let shared = run.source.subscribe(on: run.scheduler).map { _ in try run.value() }.flatMap { _ in try run.single() }.share()
                let other = shared.delay(.seconds(1), scheduler: run.scheduler).catch { _ in try run.single() }.retry(2)
                return Single.zip(shared, other) { _, _ in try run.value() }.timeout(.seconds(5), scheduler: run.scheduler)
                    .catch { _ in try run.single() }.observe(on: run.scheduler).map { _ in try run.value() }
            }
        ),
    ]

    @Test("One event comes, every source is released, and nothing is kept", arguments: chains)
    func inTurn(name: String, chain: @Sendable (Run) -> Single<Int>) async {
        await expectNothingKept(within: 0) { run in
            let events = Log<SingleEvent<Int>>()
            let subscription = chain(run).subscribe { event in withExtendedLifetime(run.token) { events.append(event) } }
            run.scheduler.time.run()
            // An action that is lost never runs. Then the subscriber has to dispose.
            #expect(events.count == 1 || run.scheduler.hasLost.withLock { $0 } && events.count == 0)
            subscription.dispose()
        }
    }

    static let asynchronousChains: [(String, @Sendable (Run) -> Single<Int>)] = [
        (
            "create(work:)",
            { run in
                .create {
                    await Task.yield()
                    return try run.value()
                }
            }
        ),
        (
            "create(work:), within others",
            { run in
                run.source.flatMap { _ in .create { try run.value() } }.catch { _ in .create { try run.value() } }.map { _ in
                    try run.value()
                }
            }
        ),
    ]

    @Test("Work in a task sends one event and keeps nothing, with a subscriber on the main actor", arguments: asynchronousChains)
    func asynchronous(name: String, chain: @Sendable (Run) -> Single<Int>) async {
        await expectNothingKept(within: 60) { run in
            let (events, came) = (Log<SingleEvent<Int>>(), Signals<Void>())
            let subscription = chain(run).observe(on: MainActor.shared).subscribe { event in
                withExtendedLifetime(run.token) { events.append(event) }
                came.send(())
            }
            await came.next()
            subscription.dispose()
            #expect(events.count == 1)
        }
    }

    /// Lets each call of a run fail in turn, and expects that everything is released within so many seconds of each run.
    private func expectNothingKept(within seconds: Double, _ body: (Run) async -> Void) async {
        let calls = await Faults.inTurn { faults in
            weak var token: Token?
            do {
                let run = Run(faults)
                token = run.token
                await body(run)
                #expect(await eventually(within: seconds) { run.open.withLock { $0 } == 0 })
            }
            #expect(await eventually(within: seconds) { token == nil })
        }
        #expect(calls > 0)
    }
}
