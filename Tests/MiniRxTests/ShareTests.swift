import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("share")
struct ShareTests {
    @Test("Subscribers that come while one is in flight join it, and each gets the event")
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

    @Test("A part of a zip that joins, while another member goes on, is followed by the parts behind it")
    func joinsAsPart() {
        let log = Log<String>()
        let box = Locked<Single<Int>?>(nil)
        let shared = Single<Int>.create { observer in
            _ = box.withLock { $0 }?.flatMap { .just($0 + 1) }.subscribe(onSuccess: { log.append("other \($0)") })
            observer(.success(1))
            return Disposables.create()
        }
        .share()
        box.withLock { $0 = shared }
        _ = Single.zip(shared, Single.deferred { .just("b") }).subscribe(onSuccess: { log.append("zip \($0.0) \($0.1)") })
        #expect(Set(log.entries) == ["other 2", "zip 1 b"])
        box.withLock { $0 = nil }
    }

    @Test("What follows each of two members starts when all before it is released, also if one joins as the source starts")
    func releasedBeforeNextOfTwo() {
        let log = Log<String>()
        let box = Locked<Single<Int>?>(nil)
        let shared = Single<Int>.create { observer in
            _ = box.withLock { $0 }?.flatMap { .just($0 + 1) }.subscribe(onSuccess: { log.append("other \($0)") })
            observer(.success(1))
            return log.disposable()
        }
        .share()
        box.withLock { $0 = shared }
        _ = shared.do(onDispose: log.adds("part disposed")).flatMap { _ in Single<Int>.just(2).do(onSubscribe: log.adds("second")) }
            .subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        #expect(log.entries.filter { $0 != "other 2" } == ["release", "part disposed", "second", "event 2", "disposed"])
        #expect(log.entries.contains("other 2"))
        box.withLock { $0 = nil }
    }

    @Test("When the last subscriber disposes in its observer, the after closures of the source still run", arguments: [true, false])
    func lastDisposesInEvent(isInOperator: Bool) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        let shared = producer.single.do(afterSuccess: { log.append("after \($0)") }).share()
        disposable.disposable = shared.map { value in
            if isInOperator { disposable.dispose() }
            return value
        }
        .subscribe(onSuccess: { _ in disposable.dispose() }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["after 1", "release", "disposed"])
    }

    @Test("While a member stays, a closure of the source runs after the event that another has left in")
    func oneStaysAfterEvent() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        let shared = producer.single.do(afterSuccess: { log.append("after \($0)") }).share()
        _ = shared.subscribe()
        disposable.disposable = shared.subscribe(onSuccess: { _ in disposable.dispose() })
        producer.send(.success(1))
        #expect(log.entries == ["after 1"])
    }

    @Test("When dispose has returned, onSubscribed of its source does not run either")
    func disposedAsItStarts() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let disposable = SerialDisposable()
        let shared = Single<Int>.create { _ in
            disposable.dispose()
            return log.disposable()
        }
        .do(onSubscribed: log.adds("subscribed")).share()
        disposable.disposable = Single.just(0).observe(on: scheduler).flatMap { _ in shared }.subscribe()
        scheduler.advance(by: .seconds(1))
        #expect(log.entries == ["release"])
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

    @Test("A member that leaves in the middle of the event waits for the release")
    func leavesDuringEvent() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        disposable.disposable = producer.single.share()
            .map { value in
                disposable.dispose()
                return value
            }
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release", "disposed"])
    }

    @Test("Joins that race with leaves are all served, 5,000 times")
    func races() {
        let queue = DispatchQueue(label: "share", attributes: .concurrent)
        for _ in 0..<rounds(5_000) {
            let shared = Single.just(1).share()
            let log = Log<String>()
            let group = DispatchGroup()
            queue.async(group: group) {
                let disposable = SerialDisposable()
                disposable.disposable = Single.just(0).flatMap { _ in
                    disposable.dispose()
                    return shared
                }.subscribe(onDisposed: log.adds("disposed"))
            }
            queue.async(group: group) {
                _ = shared.subscribe(onSuccess: { _ in log.append("served") }, onDisposed: log.adds("disposed"))
            }
            group.wait()
            #expect(log.entries.sorted() == ["disposed", "disposed", "served"])
        }
    }

    @Test("After the end a new subscription starts afresh, also from inside the event")
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

    @Test("A source that emits at once is run for each")
    func atOnce() async throws {
        let log = Log<String>()
        let shared = Single<Int>.deferred {
            log.append("run")
            return .just(log.count)
        }.share()
        #expect(try await shared.value == 1)
        #expect(try await shared.value == 2)
    }

    @Test("A member that has left gets nothing, and keeps nothing")
    func left() {
        let producer = Producer<Int>()
        let shared = producer.single.share()
        let log = Log<String>()
        weak var token: Token?
        do {
            let held = Token()
            token = held
            shared.subscribe(onSuccess: { _ in withExtendedLifetime(held) { log.append("left") } }).dispose()
        }
        #expect(token == nil)
        _ = shared.subscribe(onSuccess: { log.append("stayed \($0)") })
        producer.send(.success(1))
        #expect(log.entries == ["stayed 1"])
    }

    @Test("A dispose that races the join, 20,000 times, ends the chain once", .longComputing)
    func disposeRacesJoin() {
        let queue = DispatchQueue(label: "races", attributes: .concurrent)
        let ends = Locked(0)
        let shared = Single<Int>.never().share()
        for _ in 0..<rounds(20_000) {
            let producer = Producer<Int>()
            let subscription = producer.single.flatMap { _ in shared }.subscribe(onDisposed: { ends.withLock { $0 += 1 } })
            let group = DispatchGroup()
            queue.async(group: group) { producer.send(.success(1)) }
            queue.async(group: group) { subscription.dispose() }
            group.wait()
        }
        #expect(ends.withLock { $0 } == rounds(20_000))
    }

    @Test("A dispose that races a join leaves no run behind, 20,000 times", .longComputing)
    func noRunStays() {
        let queue = DispatchQueue(label: "races", attributes: .concurrent)
        let open = Locked(0)
        let shared = Single<Int>.create { _ in
            open.withLock { $0 += 1 }
            return Disposables.create { open.withLock { $0 -= 1 } }
        }
        .share()
        for _ in 0..<rounds(20_000) {
            let producer = Producer<Int>()
            let subscription = producer.single.flatMap { _ in shared }.subscribe()
            let group = DispatchGroup()
            queue.async(group: group) { producer.send(.success(1)) }
            queue.async(group: group) { subscription.dispose() }
            group.wait()
            guard open.withLock({ $0 }) == 0 else {
                Issue.record("The source still runs, although nobody waits for it.")
                break
            }
        }
    }

    @Test("However many members there are, one that leaves takes no longer", .longComputing)
    func leaving() {
        func seconds(_ count: Int) -> Double {
            let shared = Single<Int>.never().share()
            let members = (0..<count).map { _ in shared.subscribe() }
            return cpuSeconds { members.forEach { $0.dispose() } }
        }
        #expect(isLinear(1_000, seconds: seconds))
    }

    @Test("A join that races the event is served or starts afresh, and ends as any other, 10,000 times", .longComputing)
    func joinRacesEvent() {
        let queue = DispatchQueue(label: "share", attributes: .concurrent)
        for _ in 0..<rounds(10_000) {
            let log = Log<String>()
            let producer = Producer<Int> { log.disposable() }
            let shared = producer.single.share()
            let later = SerialDisposable()
            _ = shared.subscribe(onSuccess: { _ in log.append("first") }, onDisposed: log.adds("first disposed"))
            let group = DispatchGroup()
            queue.async(group: group) { producer.send(.success(1)) }
            queue.async(group: group) {
                later.disposable = shared.subscribe(onSuccess: { _ in log.append("later") }, onDisposed: log.adds("later disposed"))
            }
            group.wait()
            later.dispose()
            let entries = log.entries
            #expect(entries.filter { $0.hasPrefix("first") } == ["first", "first disposed"])
            #expect(entries.filter { $0 == "later disposed" }.count == 1)
            #expect(entries.count { $0 == "release" } == producer.subscriptions)
            if producer.subscriptions == 1 {
                #expect(Array(entries.suffix(3).sorted()) == ["first disposed", "later disposed", "release"])
            }
            if let release = entries.firstIndex(of: "release"), let disposed = entries.firstIndex(of: "first disposed") {
                #expect(release < disposed, "\(entries)")
            }
        }
    }

    @Test("What follows a shared source is subscribed to once that is released", arguments: [true, false])
    func releasedBeforeNext(isSuccess: Bool) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let second = Single<Int>.deferred {
            log.append("second")
            return .just(2)
        }
        let shared = producer.single.share()
        _ = (isSuccess ? shared.flatMap { _ in second } : shared.catch { _ in second })
            .subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        _ = shared.subscribe(onFailure: { _ in }, onDisposed: log.adds("other disposed"))
        producer.send(isSuccess ? .success(1) : .failure(TestError()))
        #expect(log.entries == ["release", "other disposed", "second", "event 2", "disposed"])
    }

    @Test("A retry of a shared source has one connection at a time", arguments: [true, false])
    func retried(isAtOnce: Bool) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let failing = Single<Int>.create { observer in
            observer(.failure(TestError()))
            return log.disposable()
        }
        _ = (isAtOnce ? failing : producer.single).do(onSubscribe: log.adds("connect")).share().retry(2)
            .subscribe(onFailure: { _ in log.append("failure") }, onDisposed: log.adds("disposed"))
        for _ in 0..<producer.subscriptions * 2 { producer.send(.failure(TestError())) }
        #expect(log.entries == ["connect", "release", "connect", "failure", "release", "disposed"])
    }

    @Test("A member that leaves in its own event waits for the release, also beside others")
    func leavesDuringEventBesideOthers() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        let shared = producer.single.share()
        disposable.disposable =
            shared
            .map { value in
                disposable.dispose()
                return value
            }
            .subscribe(onSuccess: { _ in log.append("left") }, onDisposed: log.adds("left disposed"))
        _ = shared.subscribe(onSuccess: { _ in log.append("stayed") }, onDisposed: log.adds("stayed disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["stayed", "release", "left disposed", "stayed disposed"])
    }

    @Test("A member that the one before disposes runs none of its closures")
    func disposedByAnother() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        let shared = producer.single.share()
        _ = shared.subscribe(onSuccess: { _ in disposable.dispose() }, onDisposed: log.adds("first disposed"))
        disposable.disposable = shared.map { log.append("map \($0)") }.subscribe(onDisposed: log.adds("second disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release", "first disposed", "second disposed"])
    }

    @Test("What one member does next does not wait for the others' chains")
    func nextOfEach() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let shared = producer.single.share()
        for name in ["a", "b", "c"] {
            _ = shared.flatMap { _ in Single<Int>.just(1).do(onSubscribe: log.adds("\(name) next")) }
                .subscribe(onSuccess: { _ in log.append(name) }, onDisposed: log.adds("\(name) disposed"))
        }
        producer.send(.success(1))
        #expect(
            log.entries.sorted()
                == ["a", "a disposed", "a next", "b", "b disposed", "b next", "c", "c disposed", "c next", "release"])
        #expect(log.entries.first == "release")
    }

    @Test("Members that come and go while one stays leave nothing behind, and those who stay are served in their order")
    func comingAndGoing() {
        let log = Log<Int>()
        let producer = Producer<Int>()
        let shared = producer.single.share()
        for number in 0..<10 {
            for _ in 0..<1_000 { shared.subscribe().dispose() }
            _ = shared.subscribe(onSuccess: { _ in log.append(number) })
        }
        producer.send(.success(1))
        #expect(log.entries == Array(0..<10))
    }
}
