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
    func recursion(_ recursion: Recursion) async {
        let log = Log<Int>()
        await onSmallStack { _ = recursion.single(recursion.depth).subscribe(onSuccess: log.append) }
        #expect(log.entries == [recursion.result])
    }

    @Test("The same function runs as deep if its first event comes from another thread", arguments: recursions.prefix(2))
    func asynchronousStart(_ recursion: Recursion) async {
        let producer = Producer<Int>()
        let log = Log<Int>()
        _ = producer.single.flatMap(recursion.single).subscribe(onSuccess: log.append)
        await onSmallStack { producer.send(.success(recursion.depth)) }
        #expect(log.entries == [recursion.result])
    }

    @Test("The same function runs as deep if its last event comes from another thread")
    func asynchronousEnd() async {
        let producer = Producer<Int>()
        @Sendable func page(_ count: Int) -> Single<Int> {
            count == 0 ? producer.single : .just(count).flatMap { page($0 - 1) }.map { $0 + 1 }
        }
        let log = Log<Int>()
        let disposable = SerialDisposable()
        await onSmallStack { disposable.disposable = page(100_000).subscribe(onSuccess: log.append) }
        await onSmallStack { producer.send(.success(0)) }
        #expect(log.entries == [100_000])
    }

    @Test("The event passes a chain of 2,500 operators, then the source is released")
    func chain() async {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        await onSmallStack {
            _ = (0..<2_500).reduce(producer.single) { single, _ in single.map { $0 + 1 } }
                .subscribe(onSuccess: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
            producer.send(.success(0))
        }
        #expect(log.entries == ["2500", "release", "disposed"])
    }
}

/// Runs `work` on a thread with the stack that secondary threads have on Apple's systems.
func onSmallStack(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            work()
            continuation.resume()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }
}
