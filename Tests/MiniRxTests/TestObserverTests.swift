import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("TestObserver")
struct TestObserverTests {
    private let scheduler = TestScheduler()

    @Test("It records the value with the virtual time since the scheduler was created")
    func value() {
        scheduler.advance(by: .seconds(1))
        let observer = scheduler.observe(Single.just(42).delay(.milliseconds(1_500), scheduler: scheduler))
        #expect(observer.events == [] && observer.values == [] && observer.error == nil && !observer.isDisposed)
        scheduler.advance(by: .seconds(10))
        #expect(observer.events == [.success(42, at: .milliseconds(2_500))])
        #expect(observer.events != [.success(42, at: .seconds(2))] && observer.events != [.success(41, at: .milliseconds(2_500))])
        #expect(observer.values == [42] && observer.error == nil && observer.isDisposed)
        let early = scheduler.observe(Single.just(1).delay(.microseconds(1_500), scheduler: scheduler))
        scheduler.advance(by: .seconds(1))
        #expect(early.events == [.success(1, at: .nanoseconds(11_001_500_000))])
    }

    @Test("It records the error, which is equal to another of its type and description")
    func error() {
        struct Plain: Error { let code: Int }
        struct Other: Error, CustomStringConvertible { var description: String { "Plain(code: 1)" } }
        let observer = scheduler.observe(Single<Int>.error(Plain(code: 1)))
        #expect(observer.events == [.failure(Plain(code: 1), at: .seconds(0))])
        #expect(observer.events != [.failure(Plain(code: 2), at: .seconds(0))])
        #expect(observer.events != [.failure(Other(), at: .seconds(0))])
        #expect(observer.events != [.failure(Plain(code: 1), at: .seconds(1))])
        #expect(observer.values == [] && (observer.error as? Plain)?.code == 1)
        let timeout = scheduler.observe(Single<Int>.error(RxError.timeout)).events
        #expect(timeout == [.failure(RxError.timeout, at: .seconds(0))])
        #expect(timeout != [.failure(TestError(), at: .seconds(0))] && timeout != [.success(1, at: .seconds(0))])
    }

    @Test("dispose() disposes the source, and no event is recorded after it")
    func dispose() {
        let (log, producer) = (Log<String>(), Producer<Int>())
        let observer = scheduler.observe(producer.single.do(onDispose: log.adds("release")))
        observer.dispose()
        #expect(observer.isDisposed && log.entries == ["release"])
        producer.send(.success(1))
        #expect(observer.events == [])
    }

    @Test("A single that waits for the scheduler keeps neither the scheduler nor the observer")
    func released() {
        weak var released: TestScheduler?
        let isKept = isKept { token in
            let scheduler = TestScheduler()
            released = scheduler
            let single = Single.just(1).delay(.seconds(1), scheduler: scheduler)
            _ = scheduler.observe(single.do(onSuccess: { _ in withExtendedLifetime(token) {} }))
        }
        #expect(!isKept && released == nil)
    }
}
