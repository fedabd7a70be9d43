import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("share", tenMinutes)
struct ShareTests {
    @Test("Subscribers that come while a run is in flight join it, and each gets the event")
    func joins() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let shared = producer.single.share()
        _ = shared.subscribe(onSuccess: { log.append("a \($0)") }, onDisposed: log.adds("a disposed"))
        _ = shared.map { $0 * 2 }.subscribe(onSuccess: { log.append("b \($0)") }, onDisposed: log.adds("b disposed"))
        #expect(producer.subscriptions == 1)
        producer.send(.success(1))
        #expect(log.entries == ["a 1", "b 2", "release", "a disposed", "b disposed"])
    }

    @Test("The last to leave cancels it")
    func lastLeaves() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let shared = producer.single.share()
        let first = shared.subscribe(onDisposed: log.adds("first"))
        let second = shared.subscribe(onDisposed: log.adds("second"))
        first.dispose()
        #expect(log.entries == ["first"])
        second.dispose()
        #expect(log.entries == ["first", "release", "second"])
    }

    @Test("A subscription after the end starts another run, even from inside the event")
    func afresh() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let shared = producer.single.share()
        _ = shared.subscribe(onSuccess: { value in
            log.append("first \(value)")
            _ = shared.subscribe(onSuccess: { log.append("second \($0)") })
        })
        producer.send(.success(1))
        #expect(producer.subscriptions == 2)
        producer.send(.success(2))
        #expect(log.entries == ["first 1", "second 2"])
    }

    @Test("A member that has left gets nothing, and keeps nothing")
    func left() {
        let producer = Producer<Int>()
        let shared = producer.single.share()
        let log = Log<String>()
        let isKept = isKept { token in
            shared.subscribe(onSuccess: { _ in withExtendedLifetime(token) { log.append("left") } }).dispose()
        }
        #expect(!isKept)
        _ = shared.subscribe(onSuccess: { log.append("stayed \($0)") })
        producer.send(.success(1))
        #expect(log.entries == ["stayed 1"])
    }

    @Test("The last subscriber to leave waits for the release of a source that is still starting")
    func lastLeavesWhileItStarts() {
        let log = Log<String>()
        let (started, goOn, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let shared = Single<Int>.create { _ in
            started.signal()
            goOn.wait()
            return log.disposable()
        }.share()
        let producer = Producer<Int>()
        let first = producer.single.flatMap { _ in shared }.subscribe(onDisposed: log.adds("disposed"))
        DispatchQueue(label: "start").async {
            producer.send(.success(1))
            done.signal()
        }
        started.wait()
        let last = shared.subscribe(onDisposed: log.adds("disposed"))
        first.dispose()
        last.dispose()
        #expect(log.entries == [])
        goOn.signal()
        done.wait()
        #expect(log.entries == ["release", "disposed", "disposed"])
    }

    @Test("Members are served in the order in which they came, even if others have left in between")
    func comingAndGoing() {
        let log = Log<Int>()
        let producer = Producer<Int>()
        let shared = producer.single.share()
        for number in 0..<10 {
            for _ in 0..<100 { shared.subscribe().dispose() }
            _ = shared.subscribe(onSuccess: { _ in log.append(number) })
        }
        producer.send(.success(1))
        #expect(log.entries == Array(0..<10))
    }

    @Test("However many members there are, leaving takes no longer", .longComputing)
    func leaving() {
        func seconds(_ count: Int) -> Double {
            let shared = Single<Int>.never().share()
            let members = (0..<count).map { _ in shared.subscribe() }
            return cpuSeconds { members.forEach { $0.dispose() } }
        }
        #expect(isLinear(1_000, seconds: seconds))
    }

    @Test("A join that races another member's dispose is served")
    func joinRacesLeave() {
        for _ in 0..<rounds(500) {
            let shared = Single.just(1).share()
            let log = Log<String>()
            race(
                {
                    let disposable = SerialDisposable()
                    disposable.disposable = Single.just(0).flatMap { _ in
                        disposable.dispose()
                        return shared
                    }.subscribe(onDisposed: log.adds("disposed"))
                },
                { _ = shared.subscribe(onSuccess: { _ in log.append("served") }, onDisposed: log.adds("disposed")) })
            #expect(log.entries.sorted() == ["disposed", "disposed", "served"])
        }
    }

    @Test("A dispose that races the join ends the chain once, and leaves no run behind", .longComputing)
    func disposeRacesJoin() {
        let (ends, open) = (Locked(0), Locked(0))
        let shared = Single<Int>.create { _ in
            open.withLock { $0 += 1 }
            return Disposables.create { open.withLock { $0 -= 1 } }
        }
        .share()
        for round in 1...rounds(2_000) {
            let producer = Producer<Int>()
            let subscription = producer.single.flatMap { _ in shared }.subscribe(onDisposed: { ends.withLock { $0 += 1 } })
            race({ producer.send(.success(1)) }, { subscription.dispose() })
            guard ends.withLock({ $0 }) == round, open.withLock({ $0 }) == 0 else {
                Issue.record("After \(round) rounds, there were \(ends.withLock { $0 }) ends, and \(open.withLock { $0 }) sources run.")
                return
            }
        }
    }

    @Test("A join that races the event is served or starts another run, and ends as any other", .longComputing)
    func joinRacesEvent() {
        for _ in 0..<rounds(1_000) {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            let shared = producer.single.share()
            let later = SerialDisposable()
            _ = shared.subscribe(onSuccess: { _ in log.append("first") }, onDisposed: log.adds("first disposed"))
            race(
                { producer.send(.success(1)) },
                {
                    later.disposable = shared.subscribe(onSuccess: { _ in log.append("later") }, onDisposed: log.adds("later disposed"))
                })
            later.dispose()
            let entries = log.entries
            #expect(entries.filter { $0.hasPrefix("first") } == ["first", "first disposed"])
            #expect(entries.count { $0 == "later disposed" } == 1)
            #expect(entries.count { $0 == "release" } == producer.subscriptions)
            if let release = entries.firstIndex(of: "release"), let disposed = entries.firstIndex(of: "first disposed") {
                #expect(release < disposed, "\(entries)")
            }
        }
    }
}
