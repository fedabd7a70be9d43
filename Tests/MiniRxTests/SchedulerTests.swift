import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Schedulers", tenMinutes)
struct SchedulerTests {
    @Test("observe(on:) delivers on its scheduler, in one hop, and releases the source once the event is queued")
    func observeOn() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let producer = Producer<Int> { log.disposable() }
        _ = producer.single.observe(on: scheduler)
            .subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release"])
        scheduler.advance(by: .nanoseconds(0))
        #expect(log.entries == ["release", "event 1", "disposed"])
    }

    @Test("A queued event is dropped and released when the subscription is disposed first")
    func dropped() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let isKept = isKept { token in
            Single.just(1).observe(on: scheduler)
                .subscribe(onSuccess: { _ in withExtendedLifetime(token) { log.append("event") } }, onDisposed: log.adds("disposed"))
                .dispose()
        }
        #expect(log.entries == ["disposed"])
        #expect(!isKept)
        scheduler.run()
        #expect(log.entries == ["disposed"])
    }

    @Test(
        "A scheduler may run an action at once: each operator then does what it does with one that runs it later", arguments: [true, false])
    func atOnce(isSuccess: Bool) {
        let chains: [@Sendable (Single<Int>, any Scheduler) -> Single<Int>] = [
            { $0.observe(on: $1) }, { $0.subscribe(on: $1) }, { $0.delay(.seconds(1), scheduler: $1) },
            { $0.retry(scheduler: $1) { failures, _ in failures < 3 ? .seconds(1) : nil } },
            { source, scheduler in Single.never().timeout(.seconds(1), scheduler: scheduler).catch { _ in source } },
        ]
        for chain in chains {
            let (atOnce, later, scheduler) = (Log<String>(), Log<String>(), TestScheduler())
            for (log, scheduler) in [(atOnce, ImmediateScheduler()), (later, scheduler)] as [(Log<String>, any Scheduler)] {
                let source = Single<Int>.create { observer in
                    log.append("subscribe")
                    observer(isSuccess ? .success(1) : .failure(TestError()))
                    return log.disposable()
                }
                _ = chain(source, scheduler).subscribe(
                    onSuccess: { log.append("\($0)") }, onFailure: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
            }
            scheduler.run()
            #expect(atOnce.entries == later.entries && later.entries.last == "disposed")
        }
    }

    @Test("Virtual time runs the actions that are due, in order, each at its time")
    func virtualTime() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let start = scheduler.now
        @Sendable func schedule(_ name: String, after delay: DispatchTimeInterval) {
            _ = scheduler.schedule(after: delay) {
                log.append("\(name) at \((scheduler.now.uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000_000)")
            }
        }
        schedule("late", after: .seconds(3))
        schedule("early", after: .seconds(1))
        schedule("second", after: .milliseconds(1_000))
        schedule("third", after: .microseconds(1_000_000))
        schedule("fourth", after: .nanoseconds(1_000_000_000))
        for (name, delay) in [("never", .never), ("too late", .seconds(.max)), ("now", .seconds(-1))] as [(String, DispatchTimeInterval)] {
            schedule(name, after: delay)
        }
        _ = scheduler.schedule(after: .seconds(1)) { schedule("nested", after: .seconds(1)) }
        scheduler.advance(by: .seconds(2))
        #expect(log.entries == ["now at 0", "early at 1", "second at 1", "third at 1", "fourth at 1", "nested at 2"])
        scheduler.advance(to: start + .seconds(3))
        schedule("last", after: .seconds(1))
        scheduler.run()
        #expect(log.entries.suffix(2) == ["late at 3", "last at 4"])
        scheduler.advance(to: start)
        #expect(scheduler.now == start + .seconds(4))
    }

    @Test("An action that another thread schedules during an advance waits for the next one, and time does not go back")
    func scheduledElsewhere() {
        let (scheduler, times) = (TestScheduler(), Log<DispatchTime>())
        let start = scheduler.now
        _ = scheduler.schedule(after: .seconds(1)) {
            race({ _ = scheduler.schedule(after: .seconds(1)) { times.append(scheduler.now) } })
        }
        scheduler.advance(by: .seconds(3))
        #expect(times.entries == [])
        scheduler.run()
        #expect(times.entries == [start + .seconds(3)])
    }

    @Test(
        "Actions run by time and then in the order of their calls, and their number does not slow one down", .longComputing,
        arguments: [1, -1, 61_803], [false, true])
    func manyActions(step: Int, isInAction: Bool) {
        func seconds(_ count: Int) -> Double {
            let scheduler = TestScheduler()
            let ran = Log<Int>()
            let due = { @Sendable (index: Int) in (index * step % count + count) % count / 16 }
            let schedule = { @Sendable in
                for index in 0..<count {
                    let disposable = scheduler.schedule(after: .seconds(due(index))) { ran.append(index) }
                    if index % 4 > 0 { disposable.dispose() }
                }
            }
            let seconds = cpuSeconds {
                if isInAction { _ = scheduler.schedule(after: .seconds(1), schedule) } else { schedule() }
                scheduler.run()
            }
            #expect(ran.entries == stride(from: 0, to: count, by: 4).sorted { (due($0), $0) < (due($1), $1) })
            return seconds
        }
        #expect(isLinear(1_000, seconds: seconds))
    }

    @Test("A scheduler that is dropped releases its actions")
    func droppedScheduler() {
        let isKept = isKept { token in
            _ = Single.just(1).delay(.seconds(1), scheduler: TestScheduler()).subscribe { _ in withExtendedLifetime(token) {} }
        }
        #expect(!isKept)
    }

    @Test("A serial scheduler keeps its order on a concurrent queue, and a concurrent scheduler runs on its queue")
    func queues() async throws {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let mark = QueueMark(on: queue)
        let scheduler = SerialDispatchQueueScheduler(queue: queue)
        let log = Log<Int>()
        for number in 0..<1_000 { _ = scheduler.schedule(after: .nanoseconds(0)) { log.append(number) } }
        _ = try await Single.just(0).observe(on: scheduler).value
        #expect(log.entries == Array(0..<1_000))
        let concurrent = ConcurrentDispatchQueueScheduler(queue: queue)
        #expect(try await Single.just(0).observe(on: concurrent).map { _ in mark.isCurrent }.value)
    }

    private static let hops: [(String, @Sendable (Single<Bool>, any Scheduler) -> Single<Bool>)] = [
        ("subscribe(on:)", { $0.subscribe(on: $1) }),
        ("observe(on:)", { body, scheduler in Single.just(1).observe(on: scheduler).flatMap { _ in body.map { $0 } } }),
        ("delay", { body, scheduler in Single.just(1).delay(.nanoseconds(0), scheduler: scheduler).flatMap { _ in body } }),
        (
            "retry",
            { body, scheduler in
                let attempts = Log<Int>()
                let failing = Single<Bool>.deferred {
                    attempts.append(1)
                    return attempts.count.isMultiple(of: 2) ? body : .error(TestError())
                }
                return failing.retry(scheduler: scheduler) { _, _ in .nanoseconds(0) }
            }
        ),
    ]

    @Test("The chain behind a hop runs on the thread of its scheduler", .longComputing, arguments: hops)
    func afterHop(name: String, hop: @Sendable (Single<Bool>, any Scheduler) -> Single<Bool>) {
        let queue = DispatchQueue(label: "hop")
        let mark = QueueMark(on: queue)
        let body = Single<Bool>.create { observer in
            observer(.success(mark.isCurrent))
            return Disposables.create()
        }
        let chain = hop(body, SerialDispatchQueueScheduler(queue: queue))
        for _ in 0..<rounds(250) {
            let (isThere, done) = (Locked(false), DispatchSemaphore(value: 0))
            _ = chain.subscribe { event in
                isThere.withLock { $0 = (try? event.get()) == true && mark.isCurrent }
                done.signal()
            }
            done.wait()
            #expect(isThere.withLock { $0 })
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A delayed action that has run or was disposed leaves nothing behind")
    func timers() async {
        await #expect(processExitsWith: .success) {
            let virtual = TestScheduler()
            // The places of 200,000 actions take over 3 MB.
            let isVirtuallyFlat = try isFlat(within: 2_000) {
                for _ in 0..<200_000 { virtual.schedule(after: .seconds(1)) {}.dispose() }
            }
            #expect(isVirtuallyFlat)
            // A timer that is kept takes 440 bytes.
            let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
            let isFlatAfterRuns = try isFlat(within: 4_000) {
                for _ in 0..<20 {
                    let hasRun = DispatchSemaphore(value: 0)
                    for _ in 0..<1000 { _ = scheduler.schedule(after: .microseconds(1)) { hasRun.signal() } }
                    for _ in 0..<1000 { hasRun.wait() }
                }
            }
            #expect(isFlatAfterRuns)
            let isFlatAfterDisposals = try isFlat(within: 10_000) {
                for _ in 0..<50 {
                    for _ in 0..<1000 { scheduler.schedule(after: .seconds(3600)) {}.dispose() }
                    // Dispatch releases timers on another thread, which must not fall behind.
                    let isNext = DispatchSemaphore(value: 0)
                    _ = scheduler.schedule(after: .milliseconds(1)) { isNext.signal() }
                    isNext.wait()
                }
            }
            #expect(isFlatAfterDisposals)
        }
    }
    #endif

    @Test("A delayed action that is disposed is released at once, even while its queue is busy")
    func busyQueue() {
        let queue = DispatchQueue(label: "busy")
        let goOn = DispatchSemaphore(value: 0)
        queue.async { goOn.wait() }
        let isKept = isKept { token in
            SerialDispatchQueueScheduler(queue: queue).schedule(after: .seconds(3600)) { withExtendedLifetime(token) {} }.dispose()
        }
        #expect(!isKept)
        goOn.signal()
    }

    @Test(
        "A delayed action on a queue comes no earlier than it should",
        arguments: [SerialDispatchQueueScheduler(qos: .default), ConcurrentDispatchQueueScheduler(qos: .default), MainScheduler.instance]
            as [any Scheduler])
    func delayed(scheduler: any Scheduler) async {
        let start = scheduler.now
        let end = await withCheckedContinuation { continuation in
            _ = scheduler.schedule(after: .milliseconds(5)) { continuation.resume(returning: scheduler.now) }
        }
        #expect(end >= start + .milliseconds(5))
    }

    @Test("The main scheduler keeps the order of the calls")
    func mainInOrder() async throws {
        let log = Log<String>()
        try await Task { @MainActor in
            DispatchQueue.global().sync { _ = MainScheduler.instance.schedule(after: .nanoseconds(0)) { log.append("first") } }
            _ = MainScheduler.instance.schedule(after: .nanoseconds(0)) { log.append("second") }
            #expect(log.entries == [])
            _ = try await Single.just(1).observe(on: MainScheduler.instance).value
        }.value
        #expect(log.entries == ["first", "second"])
    }

    @Test("An action that an action schedules on the main scheduler runs after it, in order", arguments: [0, 1])
    @MainActor func mainNested(delay: Int) async {
        let log = Log<Int>()
        let done = Signals<Void>()
        @Sendable func schedule(after delay: Int = 0, _ action: @escaping @Sendable () -> Void) {
            _ = MainScheduler.instance.schedule(after: .nanoseconds(delay), action)
        }
        schedule(after: delay) {
            log.append(1)
            schedule {
                log.append(3)
                schedule {
                    log.append(5)
                    done.send(())
                }
                log.append(4)
            }
            log.append(2)
        }
        await done.next()
        #expect(log.entries == [1, 2, 3, 4, 5])
    }
}

@Suite("Main actor", tenMinutes)
struct MainActorSingleTests {
    @Test("On the main thread, each event comes at once if nothing else waits")
    @MainActor func atOnce() async {
        var count = 0
        // Tests that run at the same time use the same main thread.
        for _ in 0..<10_000 where count < 3 {
            var hasCome = false
            _ = Single.just(1).observe(on: MainActor.shared).subscribe { _ in hasCome = true }
            if hasCome { count += 1 }
            await Task.yield()
        }
        #expect(count == 3, "In 10,000 turns of the main thread, \(count) events have come at once.")
    }

    @Test("onDisposed has run when dispose returns on the main thread")
    @MainActor func onDisposed() {
        var isDisposed = false
        Single<Int>.never().observe(on: MainActor.shared).subscribe(onDisposed: { isDisposed = true }).dispose()
        #expect(isDisposed)
    }

    @Test("onDisposed is enqueued when dispose is called elsewhere")
    func onDisposedElsewhere() async {
        let log = Log<String>()
        let disposed = Signals<Void>()
        let disposable = Single<Int>.never().observe(on: MainActor.shared).subscribe(onDisposed: {
            MainActor.assertIsolated()
            log.append("disposed")
            disposed.send(())
        })
        await MainActor.run {
            // The main thread is here until dispose has returned.
            DispatchQueue.global().sync { disposable.dispose() }
            log.append("dispose has returned")
        }
        await disposed.next()
        #expect(log.entries == ["dispose has returned", "disposed"])
    }
}
