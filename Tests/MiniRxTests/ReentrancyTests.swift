import Dispatch
import MiniRx
import TestSupport
import Testing

/// No lock is held while a closure of the user runs. If one were held, these tests would never end.
@Suite("Inside a callback", tenMinutes)
struct ReentrancyTests {
    /// Makes a chain that calls `act` at one place where code of the user runs.
    typealias Chain = @Sendable (_ act: @escaping @Sendable () -> Void) -> Single<Int>

    private static let failure = Single<Int>.error(TestError())

    static let places: [(String, Chain)] = [
        (
            "the body of create",
            { act in
                .create { observer in
                    observer(.success(value(1, after: act)))
                    return Disposables.create()
                }
            }
        ),
        (
            "the disposable of create",
            { act in
                .create { observer in
                    observer(.success(1))
                    return Disposables.create(with: act)
                }
            }
        ),
        ("the factory of deferred", { act in .deferred { value(.just(1), after: act) } }),
        ("map", { act in Single.just(1).map { value($0, after: act) } }),
        ("flatMap", { act in Single.just(1).flatMap { value(.just($0), after: act) } }),
        ("catch", { act in failure.catch { _ in value(.just(1), after: act) } }),
        ("mapError", { act in failure.mapError { value($0, after: act) } }),
        (
            "retry(scheduler:when:)",
            { act in
                failure.retry(scheduler: ImmediateScheduler()) { failures, _ in failures < 2 ? value(.seconds(1), after: act) : nil }
            }
        ),
        ("do(onSuccess:)", { act in Single.just(1).do(onSuccess: { _ in act() }) }),
        ("do(afterSuccess:)", { act in Single.just(1).do(afterSuccess: { _ in act() }) }),
        ("do(onError:)", { act in failure.do(onError: { _ in act() }) }),
        ("do(afterError:)", { act in failure.do(afterError: { _ in act() }) }),
        ("do(onSubscribe:)", { act in Single.just(1).do(onSubscribe: act) }),
        ("do(onSubscribed:)", { act in Single.just(1).do(onSubscribed: act) }),
        ("do(onDispose:)", { act in Single.just(1).do(onDispose: act) }),
        ("the selector of zip", { act in .zip(.just(1), Single.just(2)) { _, _ in value(1, after: act) } }),
        ("a source of zip", { act in .zip([Single.just(1).do(onSuccess: { _ in act() })]) { $0[0] } }),
        (
            "a source of timeout",
            { act in Single.just(1).do(onSuccess: { _ in act() }).timeout(.seconds(1), scheduler: TestScheduler()) }
        ),
        ("a source of share", { act in Single.just(1).do(onSuccess: { _ in act() }).share() }),
        ("the scheduler of observe(on:)", { act in Single.just(1).observe(on: ImmediateScheduler(act: act)) }),
        ("the scheduler of subscribe(on:)", { act in Single.just(1).subscribe(on: ImmediateScheduler(act: act)) }),
        ("the scheduler of delay", { act in Single.just(1).delay(.seconds(1), scheduler: ImmediateScheduler(act: act)) }),
        ("the scheduler of timeout", { act in Single.just(1).timeout(.seconds(1), scheduler: ImmediateScheduler(act: act)) }),
        (
            "the scheduler of retry",
            { act in failure.retry(scheduler: ImmediateScheduler(act: act)) { failures, _ in failures < 2 ? .seconds(1) : nil } }
        ),
    ]

    private static let observers: [(String, Chain)] = [
        ("the observer of a value", { _ in .just(1) }), ("the observer of an error", { _ in failure }),
        ("onDisposed", { _ in .never() }),
    ]

    @Test(
        "The code may subscribe to another chain, which runs at once, insert into the chain's bag, and release the bag",
        arguments: places + observers)
    func dispose(place: String, chain: @escaping Chain) {
        let log = Log<String>()
        let trigger = Producer<Void>()
        let bag = Locked<DisposeBag?>(DisposeBag())
        let act: @Sendable () -> Void = {
            _ = Single.just(1).flatMap { .just($0) }.subscribe { log.append("\($0)") }
            log.append("after subscribe")
            bag.withLock { $0 }?.insert(log.disposable("inserted"))
            _ = bag.withLock { $0.take() }
        }
        let disposable = trigger.single.flatMap { chain(act) }.subscribe(
            onSuccess: { _ in act() }, onFailure: { _ in act() },
            onDisposed: {
                act()
                log.append("disposed")
            })
        bag.withLock { $0 }?.insert(disposable)
        trigger.send(.success(()))
        disposable.dispose()
        #expect(log.entries.starts(with: ["success(1)", "after subscribe"]))
        #expect(log.entries.count { $0 == "disposed" } == 1)
        #expect(log.entries.count { $0 == "inserted" } == 1)
    }
}

/// Returns `value` after it has called `act`.
@Sendable func value<Value>(_ value: Value, after act: () -> Void) -> Value {
    act()
    return value
}
