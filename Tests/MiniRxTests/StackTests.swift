import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The stack stays flat", tenMinutes, .longComputing)
struct StackTests {
    /// A function that calls itself through an operator, `depth` times.
    struct Recursion: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var depth = 100_000
        var result = 0
        let step: @Sendable (_ count: Int, _ next: @escaping @Sendable (Int) -> Single<Int>) -> Single<Int>

        @Sendable func single(_ count: Int) -> Single<Int> { count == 0 ? .just(0) : step(count) { single($0 - 1) } }
    }

    static let recursions = [
        Recursion(testDescription: "flatMap") { .just($0).flatMap($1) },
        Recursion(testDescription: "flatMap over create") { count, next in
            Single<Int>.create { observer in
                observer(.success(count))
                return Disposables.create()
            }
            .flatMap(next)
        },
        Recursion(testDescription: "flatMap over a bridge") { count, next in
            Single<Int>.create { Single.just(count).subscribe($0) }.flatMap(next)
        },
        Recursion(testDescription: "flatMap over groups", depth: 20_000) { count, next in
            Single<[Int]>.zip([.just(count)]).map { $0[0] }.do(onDispose: {}).timeout(.seconds(1), scheduler: TestScheduler()).share()
                .flatMap(next)
        },
        Recursion(testDescription: "catch") { count, next in Single<Int>.error(TestError()).catch { _ in next(count) } },
        Recursion(testDescription: "map behind the call", result: 100_000) { .just($0).flatMap($1).map { $0 + 1 } },
    ]

    @Test("A function that calls itself through an operator runs 100,000 deep on a stack of 512 KiB", arguments: recursions)
    func recursion(_ recursion: Recursion) {
        let log = Log<Int>()
        onSmallStack { _ = recursion.single(recursion.depth).subscribe(onSuccess: log.append) }
        #expect(log.entries == [recursion.result])
    }

    @Test("The same function runs as deep if its first event comes from another thread", arguments: recursions.prefix(2))
    func asynchronousStart(_ recursion: Recursion) {
        let producer = Producer<Int>()
        let log = Log<Int>()
        _ = producer.single.flatMap(recursion.single).subscribe(onSuccess: log.append)
        onSmallStack { producer.send(.success(recursion.depth)) }
        #expect(log.entries == [recursion.result])
    }

    @Test("The same function runs as deep if its last event comes from another thread")
    func asynchronousEnd() {
        let producer = Producer<Int>()
        @Sendable func page(_ count: Int) -> Single<Int> {
            count == 0 ? producer.single : .just(count).flatMap { page($0 - 1) }.map { $0 + 1 }
        }
        let log = Log<Int>()
        let disposable = SerialDisposable()
        onSmallStack { disposable.disposable = page(100_000).subscribe(onSuccess: log.append) }
        onSmallStack { producer.send(.success(0)) }
        #expect(log.entries == [100_000])
    }

    /// How many times an operator may stand in a row, as the contract says: at most two thirds of what a debug build takes.
    static let bounds: [(String, Int, @Sendable (Single<Int>) -> Single<Int>)] = [
        ("map", 2_500, { $0.map { $0 + 1 } }), ("mapError", 2_500, { $0.mapError { $0 } }),
        ("flatMap", 2_500, { $0.flatMap { .just($0) } }), ("catch", 2_500, { $0.catch { .error($0) } }),
        ("do", 300, { $0.do(onSuccess: { _ in }, afterSuccess: { _ in }) }),
        ("timeout", 250, { $0.timeout(.seconds(1), scheduler: TestScheduler()) }), ("do(onDispose:)", 150, { $0.do(onDispose: {}) }),
        ("share", 120, { $0.share() }), ("zip", 80, { .zip($0, .just(1)) { $0 + $1 } }),
        ("zip of an array", 80, { .zip([$0]) { $0[0] } }),
        ("zip(maxConcurrent:)", 50, { Single.zip([$0], maxConcurrent: 1).map { $0[0] } }),
    ]

    @Test("A chain of as many operators as the contract names passes a value, an error and a dispose", arguments: bounds)
    func chain(operator: String, count: Int, chain: @escaping @Sendable (Single<Int>) -> Single<Int>) {
        let log = Log<String>()
        onSmallStack {
            for event in [.success(0), .failure(TestError()), nil] as [SingleEvent<Int>?] {
                let producer = Producer<Int> { log.disposable() }
                let disposable = (0..<count).reduce(producer.single) { single, _ in chain(single) }.subscribe(
                    onSuccess: { _ in log.append("event") }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
                if let event { producer.send(event) } else { disposable.dispose() }
            }
        }
        let count = { entry in log.entries.count { $0 == entry } }
        #expect(count("event") == 2 && count("release") == 3 && count("disposed") == 3 && log.entries.last == "disposed")
    }
}
