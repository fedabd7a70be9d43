import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The stack stays flat", tenMinutes, .longComputing)
struct StackTests {
    @Test("A tail-recursive flatMap goes 100,000 deep on a stack of 512 KiB")
    func flatMap() async {
        @Sendable func down(_ count: Int) -> Single<Int> { count == 0 ? .just(0) : .just(count).flatMap { down($0 - 1) } }
        #expect(await result { down(100_000) } == 0)
    }

    @Test("A tail-recursive flatMap over create goes 100,000 deep, also when the first event comes from elsewhere")
    func asynchronousStart() async {
        @Sendable func step(_ count: Int) -> Single<Int> {
            .create {
                $0(.success(count))
                return Disposables.create()
            }
        }
        @Sendable func down(_ count: Int) -> Single<Int> { count == 0 ? .just(0) : step(count).flatMap { down($0 - 1) } }
        let producer = Producer<Int>()
        let log = Log<Int>()
        _ = producer.single.flatMap(down).subscribe(onSuccess: log.append)
        await onSmallStack { producer.send(.success(100_000)) }
        #expect(log.entries == [0])
    }

    @Test("So does one whose sources bridge other singles")
    func bridged() async {
        @Sendable func bridge(_ count: Int) -> Single<Int> { .create { Single.just(count).subscribe($0) } }
        @Sendable func down(_ count: Int) -> Single<Int> { count == 0 ? .just(0) : bridge(count).flatMap { down($0 - 1) } }
        #expect(await result { down(100_000) } == 0)
    }

    @Test("So does one with another part in each step")
    func parts() async {
        let scheduler = TestScheduler()
        @Sendable func step(_ count: Int) -> Single<Int> {
            Single<[Int]>.zip([.just(count)]).map { $0[0] }.do(onDispose: {}).timeout(.seconds(1), scheduler: scheduler).share()
        }
        @Sendable func down(_ count: Int) -> Single<Int> { count == 0 ? .just(0) : step(count).flatMap { down($0 - 1) } }
        #expect(await result { down(20_000) } == 0)
    }

    @Test("A chain of 100,000 catches is flat")
    func recovery() async {
        @Sendable func attempt(_ count: Int) -> Single<Int> {
            Single<Int>.error(TestError()).catch { _ in count == 0 ? .just(7) : attempt(count - 1) }
        }
        #expect(await result { attempt(100_000) } == 7)
    }

    @Test("Recursion with an operator behind the recursive call runs 100,000 deep")
    func paging() async {
        @Sendable func page(_ count: Int) -> Single<Int> {
            count == 0 ? .just(0) : .just(count).flatMap { page($0 - 1) }.map { $0 + 1 }
        }
        #expect(await result { page(100_000) } == 100_000)
    }

    @Test("So does one whose last event comes from another thread")
    func pagingElsewhere() async {
        let producer = Producer<Int>()
        @Sendable func page(_ count: Int) -> Single<Int> {
            count == 0 ? producer.single : .just(count).flatMap { page($0 - 1) }.map { $0 + 1 }
        }
        let log = Log<Int>()
        let disposable = Locked<(any Disposable)?>(nil)
        await onSmallStack {
            let subscription = page(100_000).subscribe(onSuccess: log.append)
            disposable.withLock { $0 = subscription }
        }
        await onSmallStack { producer.send(.success(0)) }
        #expect(log.entries == [100_000])
    }

    @Test("A source is released when its event has passed all of many operators")
    func releaseAfterManyOperators() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        _ = (0..<100).reduce(producer.single) { single, _ in single.map { $0 + 1 } }
            .subscribe(onSuccess: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
        producer.send(.success(0))
        #expect(log.entries == ["100", "release", "disposed"])
    }

    @Test("A chain of 2,500 operators runs and is released")
    func chain() async {
        #expect(await result { (0..<2_500).reduce(Single.just(0)) { single, _ in single.map { $0 + 1 } } } == 2_500)
    }

    private func result(of single: @escaping @Sendable () -> Single<Int>) async -> Int? {
        let log = Log<Int>()
        await onSmallStack { _ = single().subscribe(onSuccess: log.append) }
        return log.entries.first
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
