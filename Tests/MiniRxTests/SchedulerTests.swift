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

    @Test("A queued event is dropped when the subscription is disposed first, and let go")
    func dropped() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let disposable = Single.just(1).observe(on: scheduler)
                .subscribe(onSuccess: { _ in withExtendedLifetime(held) { log.append("event") } }, onDisposed: log.adds("disposed"))
            disposable.dispose()
        }
        #expect(log.entries == ["disposed"])
        #expect(token == nil)
        scheduler.run()
        #expect(log.entries == ["disposed"])
    }

    @Test("Virtual time runs what is due, in order, with the time it was due")
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
        _ = schedule("early too", after: .milliseconds(1_000))
        schedule("dropped", after: .seconds(1)).dispose()
        _ = schedule("never", after: .never)
        _ = scheduler.schedule(after: .seconds(1)) { _ = schedule("nested", after: .seconds(1)) }
        scheduler.advance(by: .seconds(2))
        #expect(log.entries == ["early at 1", "early too at 1", "nested at 2"])
        #expect(scheduler.now == start + .seconds(2))
        scheduler.run()
        #expect(log.entries.last == "late at 3")
        scheduler.advance(to: start)
        #expect(scheduler.now == start + .seconds(3))
    }

    @Test("A serial scheduler keeps its order on a concurrent queue")
    func serial() async throws {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let scheduler = SerialDispatchQueueScheduler(queue: queue)
        let log = Log<Int>()
        for number in 0..<1_000 { _ = scheduler.schedule(after: .nanoseconds(0)) { log.append(number) } }
        _ = try await Single.just(0).observe(on: scheduler).value
        #expect(log.entries == Array(0..<1_000))
    }

    @Test("What follows a hop runs on the thread hopped to, 10,000 times")
    func afterHop() {
        let queue = DispatchQueue(label: "hop")
        let mark = QueueMark(on: queue)
        let scheduler = SerialDispatchQueueScheduler(queue: queue)
        @Sendable func here() -> Bool { mark.isCurrent }
        let body = Single<Bool>.create { observer in
            observer(.success(here()))
            return Disposables.create()
        }
        let attempts = Log<Bool>()
        let retried = Single<Bool>.deferred {
            attempts.append(true)
            return attempts.count.isMultiple(of: 2) ? body : .error(TestError())
        }
        let chains: [(String, Single<Bool>)] = [
            ("subscribe(on:)", body.subscribe(on: scheduler)),
            ("observe(on:)", Single.just(1).observe(on: scheduler).flatMap { _ in Single.just(1).map { _ in here() } }),
            ("retry", retried.retry(scheduler: scheduler) { _, _ in .nanoseconds(0) }),
            ("delay", Single.just(1).delay(.nanoseconds(0), scheduler: scheduler).flatMap { _ in body }),
        ]
        for (name, chain) in chains {
            for _ in 0..<2_500 {
                let done = DispatchSemaphore(value: 0)
                let log = Log<Bool>()
                _ = chain.subscribe { event in
                    log.append((try? event.get()) == true && here())
                    done.signal()
                }
                done.wait()
                guard log.entries == [true] else {
                    Issue.record("\(name) went on elsewhere.")
                    break
                }
            }
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A delayed action that is disposed leaves nothing behind until its time")
    func timers() async {
        await #expect(processExitsWith: .success) {
            let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
            let schedule = {
                for _ in 0..<50 {
                    for _ in 0..<1000 { scheduler.schedule(after: .seconds(3600)) {}.dispose() }
                    // Dispatch lets go of timers on a thread of its own, which must not fall behind.
                    let isNext = DispatchSemaphore(value: 0)
                    _ = scheduler.schedule(after: .milliseconds(1)) { isNext.signal() }
                    isNext.wait()
                }
            }
            schedule()
            let before = try residentKilobytes()
            schedule()
            schedule()
            // A timer that is kept takes 440 bytes.
            #expect(try residentKilobytes() - before < 20_000)
        }
    }
    #endif

    @Test("A concurrent scheduler runs on its queue")
    func concurrent() async throws {
        let queue = DispatchQueue(label: "mine", attributes: .concurrent)
        let mark = QueueMark(on: queue)
        let scheduler = ConcurrentDispatchQueueScheduler(queue: queue)
        let isOnQueue = try await Single.just(0).observe(on: scheduler).map { _ in mark.isCurrent }.value
        #expect(isOnQueue)
    }

    @Test("The main scheduler runs at once on the main thread when nothing of its own is waiting")
    @MainActor func mainAtOnce() async {
        await expectOnceNothingIsWaiting {
            let log = Log<Int>()
            _ = Single.just(1).observe(on: MainScheduler.instance).subscribe(onSuccess: log.append)
            return log.entries == [1]
        }
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
        let (isShown, shown) = AsyncStream.makeStream(of: Void.self)
        let disposable = producer.single.observe(on: MainActor.shared).subscribe(
            onSuccess: {
                screen.show($0)
                shown.yield()
            })
        DispatchQueue.global().async { producer.send(.success("from elsewhere")) }
        for await _ in isShown { break }
        #expect(screen.titles == ["from elsewhere"])
        disposable.dispose()
    }

    @Test("On the main thread with nothing waiting the event comes at once")
    @MainActor func atOnce() async {
        await expectOnceNothingIsWaiting {
            let screen = Screen()
            _ = Single.just("now").observe(on: MainActor.shared).subscribe(with: screen, onSuccess: { $0.show($1) })
            _ = Single.just("event").observe(on: MainActor.shared).subscribe { event in screen.show((try? event.get()) ?? "") }
            return screen.titles == ["now", "event"]
        }
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
        let (isDisposed, disposed) = AsyncStream.makeStream(of: Void.self)
        let disposable = Single<Int>.never().observe(on: MainActor.shared).subscribe(onDisposed: {
            MainActor.assertIsolated()
            log.append("disposed")
            disposed.yield()
        })
        await MainActor.run {
            // The main thread is here until dispose has returned.
            DispatchQueue.global().sync { disposable.dispose() }
            log.append("dispose has returned")
        }
        for await _ in isDisposed { break }
        #expect(log.entries == ["dispose has returned", "disposed"])
    }
}

/// Tests that run beside this one use the same main thread: what waits there is theirs, and goes when they do.
@MainActor private func expectOnceNothingIsWaiting(_ condition: () -> Bool) async {
    for _ in 0..<10_000 {
        if condition() { return }
        await Task.yield()
    }
    Issue.record("In 10,000 turns of the main thread it was never so.")
}
