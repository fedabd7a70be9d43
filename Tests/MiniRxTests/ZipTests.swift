import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("zip")
struct ZipTests {
    @Test("zip of nothing succeeds with nothing")
    func nothing() async throws {
        #expect(try await Single<[Int]>.zip([Single<Int>]()).value == [])
    }

    @Test("zip keeps the order of its sources, whatever the order of their events")
    func order() {
        let log = Log<String>()
        let first = Producer<Int> { log.disposable("first") }
        let second = Producer<Int> { log.disposable("second") }
        _ = Single<[Int]>.zip([first.single, second.single])
            .subscribe(onSuccess: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
        second.send(.success(2))
        #expect(log.entries == ["second"])
        first.send(.success(1))
        #expect(log.entries == ["second", "[1, 2]", "first", "disposed"])
    }

    @Test("The first failure wins and disposes the others")
    func failure() {
        let log = Log<String>()
        let first = Producer<Int> { log.disposable("first") }
        let second = Producer<Int> { log.disposable("second") }
        _ = Single<[Int]>.zip([first.single, second.single, .never()])
            .subscribe(onFailure: { log.append(($0 as? TestError)?.name ?? "") }, onDisposed: log.adds("disposed"))
        second.send(.failure(TestError("failure")))
        first.send(.failure(TestError("late")))
        #expect(log.entries.first == "failure")
        #expect(log.entries.last == "disposed")
        #expect(log.entries.sorted() == ["disposed", "failure", "first", "second"])
    }

    @Test("A source that fails at once keeps the later ones from starting")
    func failsAtOnce() {
        let log = Log<String>()
        let later = Single<Int>.deferred {
            log.append("later")
            return .just(1)
        }
        _ = Single<[Int]>.zip([.error(TestError()), later]).subscribe(onFailure: { _ in log.append("failure") })
        #expect(log.entries == ["failure"])
    }

    @Test("dispose disposes all")
    func dispose() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        Single<[Int]>.zip([producer.single, producer.single]).subscribe(onDisposed: log.adds("disposed")).dispose()
        #expect(log.entries == ["release", "release", "disposed"])
    }

    @Test("Different types make a tuple, or what a selector makes of them")
    func types() async throws {
        let pair = try await Single.zip(.just(1), Single.just("a")).value
        #expect(pair == (1, "a"))
        let four = try await Single.zip(.just(1), Single.just("a"), Single<Double?>.just(nil), Single.just([true])).value
        #expect(four.0 == 1 && four.1 == "a" && four.2 == nil && four.3 == [true])
        let nested = try await Single.zip(Single<Int??>.just(nil), .just(1)).value
        #expect(nested.0 == .none)
        #expect(try await Single.zip(Single.just(1), Single.just("a")) { "\($0)\($1)" }.value == "1a")
        #expect(try await Single.zip(Single.just(1), Single.just(2), Single.just(3)) { $0 + $1 + $2 }.value == 6)
        #expect(try await Single<Int>.zip([.just(1), .just(2)]) { $0.reduce(0, +) }.value == 3)
        await #expect(throws: TestError()) { try await Single<Int>.zip(Single.just(1), Single.just(2)) { _, _ in throw TestError() }.value }
    }

    @Test("Sources that race, 2,000 times: one event, after which everything is released")
    func races() {
        let queue = DispatchQueue(label: "zip", attributes: .concurrent)
        for round in 0..<2_000 {
            let log = Log<String>()
            let producers = (0..<3).map { _ in Producer<Int> { log.disposable() } }
            let disposable = Single<[Int]>.zip(producers.map(\.single)).subscribe { _ in log.append("event") }
            let group = DispatchGroup()
            for (index, producer) in producers.enumerated() {
                queue.async(group: group) { producer.send(index == 2 && round % 3 == 0 ? .failure(TestError()) : .success(index)) }
            }
            if round % 5 == 0 { queue.async(group: group) { disposable.dispose() } }
            group.wait()
            #expect(log.entries.count { $0 == "release" } == 3)
            #expect(log.entries.count { $0 == "event" } <= 1)
            if round % 5 != 0 { #expect(log.count == 4) }
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("Nothing is kept when one part has ended before the last emits in its own body, 100,000 times", .longComputing)
    func endedFirst() async {
        await #expect(processExitsWith: .success) {
            let source = Single<Int>.create {
                $0(.success(1))
                return Disposables.create()
            }
            let zipped = Single.zip(source, source)
            (0..<1_000).forEach { _ in _ = zipped.subscribe() }
            let before = try residentKilobytes()
            (0..<100_000).forEach { _ in _ = zipped.subscribe() }
            #expect(try residentKilobytes() - before < 4_000)
        }
    }

    @Test("What ends at once inside a part is let go while the others go on, 100,000 times", .longComputing)
    func endedBranches() async {
        await #expect(processExitsWith: .success) {
            func zipped(_ attempts: Int) -> Single<(Int, Int)> {
                let failing = Single<Int>.error(TestError()).do(onDispose: {}).retry(attempts)
                return Single.zip(failing.catch { _ in .never() }, .never())
            }
            zipped(1_000).subscribe().dispose()
            let before = try residentKilobytes()
            let disposable = zipped(100_000).subscribe()
            // All of them would take 20 MB.
            #expect(try residentKilobytes() - before < 4_000)
            disposable.dispose()
        }
    }
    #endif
}
