import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("share", tenMinutes)
struct ShareTests {
    @Test("When the last subscriber leaves, the source is cancelled")
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

    @Test("A member that leaves gets nothing and is released, and the others get the event in the order in which they came")
    func leave() {
        let log = Log<Int>()
        let producer = Producer<Int>()
        let shared = producer.single.share()
        let isKept = isKept { token in
            for number in 0..<10 {
                _ = shared.subscribe(onSuccess: { _ in log.append(number) })
                shared.subscribe(onSuccess: { _ in withExtendedLifetime(token) { log.append(-1) } }).dispose()
            }
        }
        #expect(!isKept)
        producer.send(.success(1))
        #expect(log.entries == Array(0..<10))
    }

    @Test("The last subscriber to leave waits for the release of a source that is still starting")
    func lastLeavesWhileItStarts() {
        let (log, producer, first) = (Log<String>(), Producer<Int>(), SerialDisposable())
        let shared = Locked<Single<Int>?>(nil)
        let source = Single<Int>.create { _ in
            let last = shared.withLock { $0 }?.subscribe(onDisposed: log.adds("disposed"))
            first.dispose()
            last?.dispose()
            log.append("body ends")
            return log.disposable()
        }.share()
        shared.withLock { $0 = source }
        first.disposable = producer.single.flatMap { _ in source }.subscribe(onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["body ends", "release", "disposed", "disposed"])
    }

    @Test("The time to leave does not depend on the number of members", .longComputing)
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
        for _ in 0..<rounds(2_000) {
            let log = Log<String>()
            let shared = Single<Int>.create { _ in
                log.append("open")
                return log.disposable()
            }.share()
            let producer = Producer<Int>()
            let subscription = producer.single.flatMap { _ in shared }.subscribe(onDisposed: log.adds("disposed"))
            race({ producer.send(.success(1)) }, { subscription.dispose() })
            #expect(log.entries == ["disposed"] || log.entries == ["open", "release", "disposed"])
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
            race({ producer.send(.success(1)) }, { later.disposable = shared.subscribe(onDisposed: log.adds("later disposed")) })
            later.dispose()
            let entries = log.entries
            #expect(entries.filter { $0 != "later disposed" }.prefix(3) == ["first", "release", "first disposed"])
            #expect(entries.count { $0 == "later disposed" } == 1)
            #expect(entries.count { $0 == "release" } == producer.subscriptions)
        }
    }
}
