import MiniRx
import TestSupport
import Testing

@Suite("zip")
struct ZipTests {
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

    @Test("Different types make a tuple, or the result of a selector, and no singles make no values")
    func types() async throws {
        #expect(try await Single<[Int]>.zip([Single<Int>]()).value == [])
        let four = try await Single.zip(.just(1), Single.just("a"), Single<Double??>.just(nil), Single.just([true])).value
        #expect(four.0 == 1 && four.1 == "a" && four.2 == .none && four.3 == [true])
        #expect(try await Single.zip(Single.just(1), Single.just("a")) { "\($0)\($1)" }.value == "1a")
        #expect(try await Single<Int>.zip([.just(1), .just(2)]) { $0.reduce(0, +) }.value == 3)
    }

    @Test("Sources that race send one event, after which everything is released")
    func races() {
        for round in 0..<rounds(500) {
            let log = Log<String>()
            let producers = (0..<3).map { _ in Producer<Int> { log.disposable() } }
            let disposable = Single<[Int]>.zip(producers.map(\.single)).subscribe { _ in log.append("event") }
            race(
                { producers[0].send(.success(0)) }, { producers[1].send(.success(1)) },
                { producers[2].send(round % 3 == 0 ? .failure(TestError()) : .success(2)) },
                { if round % 5 == 0 { disposable.dispose() } })
            #expect(log.entries.count { $0 == "release" } == 3)
            #expect(round % 5 == 0 ? log.count <= 4 : log.count == 4)
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("Sources that have ended are released while other sources go on")
    func endedParts() async {
        await #expect(processExitsWith: .success) {
            func waiting(attempts: Int) -> Single<(Int, Int)> {
                let failing = Single<Int>.error(TestError()).do(onDispose: {}).retry(attempts)
                return .zip(failing.catch { _ in .never() }, .never())
            }
            waiting(attempts: 1_000).subscribe().dispose()
            let before = try residentKilobytes()
            let disposable = waiting(attempts: 50_000).subscribe()
            // The attempts that have failed would take 10 MB.
            #expect(try residentKilobytes() - before < 4_000)
            disposable.dispose()
        }
    }
    #endif
}
