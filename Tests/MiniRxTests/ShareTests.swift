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
        for _ in 0..<5_000 {
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
}
