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

    @Test("Virtual time runs the actions that are due, in order, each at its time")
    func virtualTime() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let start = scheduler.now
        @Sendable func schedule(_ name: String, after delay: DispatchTimeInterval) -> any Disposable {
            scheduler.schedule(after: delay) {
                log.append("\(name) at \((scheduler.now.uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000_000)")
            }
        }
        _ = schedule("late", after: .seconds(3))
        _ = schedule("early", after: .seconds(1))
        _ = schedule("second", after: .milliseconds(1_000))
        _ = schedule("third", after: .microseconds(1_000_000))
        schedule("dropped", after: .seconds(1)).dispose()
        for (name, delay) in [("never", .never), ("too late", .seconds(.max)), ("now", .seconds(-1))] as [(String, DispatchTimeInterval)] {
            _ = schedule(name, after: delay)
        }
        _ = scheduler.schedule(after: .seconds(1)) { _ = schedule("nested", after: .seconds(1)) }
        scheduler.advance(by: .seconds(2))
        #expect(log.entries == ["now at 0", "early at 1", "second at 1", "third at 1", "nested at 2"])
        #expect(scheduler.now == start + .seconds(2))
        scheduler.advance(to: start + .seconds(3))
        #expect(log.entries.last == "late at 3")
        _ = schedule("last", after: .seconds(1))
        scheduler.run()
        #expect(log.entries.last == "last at 4")
        scheduler.advance(to: start)
        #expect(scheduler.now == start + .seconds(4))
    }

    @Test("Actions of the same time run in the order of their calls, even after others between them were disposed")
    func virtualOrder() {
        let log = Log<Int>()
        let scheduler = TestScheduler()
        var random = SeededGenerator(seed: 1)
        var expected: [(due: Int, number: Int)] = []
        for number in 0..<2_000 {
            let due = Int.random(in: 0..<50, using: &random)
            let disposable = scheduler.schedule(after: .seconds(due)) { log.append(number) }
            if Int.random(in: 0..<4, using: &random) > 0 { disposable.dispose() } else { expected.append((due, number)) }
        }
        scheduler.run()
        #expect(log.entries == expected.sorted { ($0.due, $0.number) < ($1.due, $1.number) }.map(\.number))
    }

    @Test("Virtual time does not go back while another thread schedules", .longComputing)
    func virtualTimeGoesOn() {
        for _ in 0..<rounds(1_000) {
            let scheduler = TestScheduler()
            let times = Log<DispatchTime>()
            race(
                { _ = scheduler.schedule(after: .seconds(1)) { times.append(scheduler.now) } },
                {
                    scheduler.advance(by: .seconds(3))
                    times.append(scheduler.now)
                    scheduler.run()
                    times.append(scheduler.now)
                })
            scheduler.run()
            let entries = times.entries
            #expect(zip(entries, entries.dropFirst()).allSatisfy { $0 <= $1 }, "\(entries.map(\.uptimeNanoseconds))")
        }
    }

    @Test("The time that actions take grows with their number, in any order", .longComputing, arguments: [1, -1, 61_803], [false, true])
    func manyActions(step: Int, isInAction: Bool) {
        func seconds(_ count: Int) -> Double {
            let scheduler = TestScheduler()
            let ran = Log<Int>()
            let schedule = { @Sendable in
                for index in 0..<count {
                    let second = (index * step % count + count) % count
                    _ = scheduler.schedule(after: .seconds(second)) { if index % 100 == 0 { ran.append(second) } }
                }
            }
            let seconds = cpuSeconds {
                if isInAction { _ = scheduler.schedule(after: .seconds(1), schedule) } else { schedule() }
                scheduler.run()
            }
            #expect(ran.entries == ran.entries.sorted() && ran.count == count / 100)
            return seconds
        }
        #expect(isLinear(1_000, seconds: seconds))
    }

    @Test("The time that a dispose takes does not grow with the number of actions")
    func virtualDispose() {
        func seconds(_ count: Int) -> Double {
            let scheduler = TestScheduler()
            let disposables = (0..<count).map { _ in scheduler.schedule(after: .seconds(1)) {} }
            return cpuSeconds { disposables.forEach { $0.dispose() } }
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

    @Test("Virtual time moves on while another thread keeps scheduling", .longComputing)
    func busy() async {
        let scheduler = TestScheduler()
        let (isOver, count) = (Locked(false), Locked(0))
        let group = DispatchGroup()
        _ = scheduler.schedule(after: .seconds(0)) {
            let isRunning = DispatchSemaphore(value: 0)
            DispatchQueue(label: "busy").async(group: group) {
                while !isOver.withLock({ $0 }) {
                    _ = scheduler.schedule(after: .seconds(0)) { count.withLock { $0 += 1 } }
                    isRunning.signal()
                }
            }
            isRunning.wait()
        }
        // Each call has to run what was scheduled during the one before, so more calls could take for ever.
        for _ in 0..<3 { scheduler.advance(by: .seconds(1)) }
        isOver.withLock { $0 = true }
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        scheduler.run()
        #expect(count.withLock { $0 } > 0)
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

    @Test(
        "The chain behind a hop runs on the thread of its scheduler", .longComputing,
        arguments: ["subscribe(on:)", "observe(on:)", "retry", "delay"])
    func afterHop(name: String) {
        let queue = DispatchQueue(label: "hop")
        let mark = QueueMark(on: queue)
        let scheduler = SerialDispatchQueueScheduler(queue: queue)
        let body = Single<Bool>.create { observer in
            observer(.success(mark.isCurrent))
            return Disposables.create()
        }
        let attempts = Log<Bool>()
        let retried = Single<Bool>.deferred {
            attempts.append(true)
            return attempts.count.isMultiple(of: 2) ? body : .error(TestError())
        }
        let chain =
            switch name {
            case "subscribe(on:)": body.subscribe(on: scheduler)
            case "observe(on:)": Single.just(1).observe(on: scheduler).flatMap { _ in Single.just(1).map { _ in mark.isCurrent } }
            case "retry": retried.retry(scheduler: scheduler) { _, _ in .nanoseconds(0) }
            default: Single.just(1).delay(.nanoseconds(0), scheduler: scheduler).flatMap { _ in body }
            }
        for _ in 0..<rounds(250) {
            let (isThere, done) = (Locked(false), DispatchSemaphore(value: 0))
            _ = chain.subscribe { event in
                isThere.withLock { $0 = (try? event.get()) == true && mark.isCurrent }
                done.signal()
            }
            done.wait()
            guard isThere.withLock({ $0 }) else {
                Issue.record("It went on elsewhere.")
                break
            }
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A delayed action that has run or was disposed leaves nothing behind", .longComputing)
    func timers() async {
        await #expect(processExitsWith: .success) {
            let virtual = TestScheduler()
            let isVirtuallyFlat = try isFlat(within: 4_000) {
                for _ in 0..<100_000 { virtual.schedule(after: .seconds(1)) {}.dispose() }
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

    @Test("A delayed action on a queue comes no earlier than it should")
    func delayed() async {
        let scheduler = SerialDispatchQueueScheduler(qos: .default)
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
                log.append(4)
                schedule {
                    log.append(6)
                    done.send(())
                }
                log.append(5)
            }
            log.append(2)
            log.append(3)
        }
        await done.next()
        #expect(log.entries == [1, 2, 3, 4, 5, 6])
    }

    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("A poll on the main scheduler that asks again in its own callback stays flat, 100,000 times")
    func mainPoll() async {
        // In another process: other tests wait for a main thread on which nothing is waiting.
        await #expect(processExitsWith: .success) {
            let left = Locked(0)
            @Sendable func isOver() -> Bool {
                left.withLock { left in
                    left -= 1
                    return left == 0
                }
            }
            @Sendable func poll() -> Single<Int> {
                Single.just(1).observe(on: MainScheduler.instance).flatMap { _ in isOver() ? .just(0) : poll() }
            }
            left.withLock { $0 = 100_000 }
            _ = try await poll().value
            let done = Signals<Void>()
            @Sendable func ask() {
                _ = Single.just(1).observe(on: MainScheduler.instance).subscribe { _ in isOver() ? done.send(()) : ask() }
            }
            left.withLock { $0 = 100_000 }
            ask()
            await done.next()
        }
    }
    #endif
}

@Suite("Main actor", tenMinutes)
struct MainActorSingleTests {
    @MainActor final class Screen {
        var titles: [String] = []
        func show(_ title: String) { titles.append(title) }
    }

    @Test("Closures run on the main actor and may touch its state")
    @MainActor func touch() async {
        let screen = Screen()
        let producer = Producer<String>()
        let shown = Signals<Void>()
        let disposable = producer.single.observe(on: MainActor.shared).subscribe(
            onSuccess: {
                screen.show($0)
                shown.send(())
            })
        DispatchQueue.global().async { producer.send(.success("from elsewhere")) }
        await shown.next()
        #expect(screen.titles == ["from elsewhere"])
        disposable.dispose()
    }

    @Test("On the main thread, the event comes at once if nothing else waits")
    @MainActor func atOnce() async {
        await expectOnceNothingIsWaiting {
            let screen = Screen()
            _ = Single.just("now").observe(on: MainActor.shared).subscribe(with: screen, onSuccess: { $0.show($1) })
            _ = Single.just("event").observe(on: MainActor.shared).subscribe { event in screen.show((try? event.get()) ?? "") }
            return screen.titles == ["now", "event"]
        }
    }

    @Test("An object gets the error, and is not kept for it")
    @MainActor func errorForObject() async {
        struct Failure: Error {}
        await expectOnceNothingIsWaiting {
            let screen = Screen()
            let failing = Single<Int>.error(Failure()).observe(on: MainActor.shared)
            _ = failing.subscribe(with: screen, onFailure: { screen, _ in screen.show("failed") }, onDisposed: { $0.show("disposed") })
            return screen.titles == ["failed", "disposed"]
        }
        weak var gone: Screen?
        do {
            let screen = Screen()
            gone = screen
            _ = Single<Int>.never().observe(on: MainActor.shared).subscribe(with: screen, onFailure: { screen, _ in screen.show("failed") })
        }
        #expect(gone == nil)
    }

    @Test("onDisposed has run when dispose returns on the main thread")
    @MainActor func onDisposed() {
        let screen = Screen()
        Single<Int>.never().observe(on: MainActor.shared).subscribe(onDisposed: { screen.show("disposed") }).dispose()
        #expect(screen.titles == ["disposed"])
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

/// Tests that run at the same time use the same main thread, so something may be waiting there for some time.
@MainActor private func expectOnceNothingIsWaiting(_ condition: () -> Bool) async {
    for _ in 0..<10_000 {
        if condition() { return }
        await Task.yield()
    }
    Issue.record("In 10,000 turns of the main thread it was never so.")
}
