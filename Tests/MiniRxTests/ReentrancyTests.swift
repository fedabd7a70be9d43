import Dispatch
import MiniRx
import TestSupport
import Testing

/// No lock is held while a closure of the user runs. If one were held, these tests would never end.
@Suite("Inside a callback", tenMinutes)
struct ReentrancyTests {
    /// A place where code of the user runs, and a chain that calls `act` there.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let chain: @Sendable (_ act: @escaping @Sendable () -> Void) -> Single<Int>

        init(_ name: String, _ chain: @escaping @Sendable (_ act: @escaping @Sendable () -> Void) -> Single<Int>) {
            (testDescription, self.chain) = (name, chain)
        }
    }

    private static let failure = Single<Int>.error(TestError())

    static let places = [
        Place("the body of create") { act in
            .create { observer in
                observer(.success(value(1, after: act)))
                return Disposables.create()
            }
        },
        Place("the disposable of create") { act in
            .create { observer in
                observer(.success(1))
                return Disposables.create(with: act)
            }
        },
        Place("the factory of deferred") { act in .deferred { value(.just(1), after: act) } },
        Place("map") { act in Single.just(1).map { value($0, after: act) } },
        Place("flatMap") { act in Single.just(1).flatMap { value(.just($0), after: act) } },
        Place("catch") { act in failure.catch { _ in value(.just(1), after: act) } },
        Place("mapError") { act in failure.mapError { value($0, after: act) } },
        Place("retry(scheduler:when:)") { act in
            failure.retry(scheduler: ImmediateScheduler()) { failures, _ in failures < 2 ? value(.seconds(1), after: act) : nil }
        },
        Place("do(onSuccess:)") { act in Single.just(1).do(onSuccess: { _ in act() }) },
        Place("do(afterSuccess:)") { act in Single.just(1).do(afterSuccess: { _ in act() }) },
        Place("do(onError:)") { act in failure.do(onError: { _ in act() }) },
        Place("do(afterError:)") { act in failure.do(afterError: { _ in act() }) },
        Place("do(onSubscribe:)") { act in Single.just(1).do(onSubscribe: act) },
        Place("do(onSubscribed:)") { act in Single.just(1).do(onSubscribed: act) },
        Place("do(onDispose:)") { act in Single.just(1).do(onDispose: act) },
        Place("the selector of zip") { act in .zip(.just(1), Single.just(2)) { _, _ in value(1, after: act) } },
        Place("the selector of zip of many") { act in
            .zip(.just(1), Single.just(2), Single.just(3), Single.just(4)) { _, _, _, _ in value(1, after: act) }
        },
        Place("a source of zip") { act in .zip([Single.just(1).do(onSuccess: { _ in act() })]) { $0[0] } },
        Place("a source of timeout") { act in
            Single.just(1).do(onSuccess: { _ in act() }).timeout(.seconds(1), scheduler: TestScheduler())
        },
        Place("a source of share") { act in Single.just(1).do(onSuccess: { _ in act() }).share() },
        Place("a scheduler") { act in Single.just(1).observe(on: ImmediateScheduler(act: act)) },
        Place("a scheduler's delay") { act in Single.just(1).delay(.seconds(1), scheduler: ImmediateScheduler(act: act)) },
        Place("a scheduler that is subscribed on") { act in Single.just(1).subscribe(on: ImmediateScheduler(act: act)) },
    ]

    private static let observers = [
        Place("the observer of a value") { _ in .just(1) }, Place("the observer of an error") { _ in failure },
        Place("onDisposed") { _ in .never() },
    ]

    @Test(
        "The code may subscribe to another chain, which runs at once, insert into the chain's bag, and release the bag",
        arguments: places + observers)
    func dispose(place: Place) {
        let log = Log<String>()
        let trigger = Producer<Void>()
        let bag = Locked<DisposeBag?>(DisposeBag())
        let act: @Sendable () -> Void = {
            _ = Single.just(1).flatMap { .just($0) }.subscribe { log.append("\($0)") }
            log.append("after subscribe")
            bag.withLock { $0 }?.insert(log.disposable("inserted"))
            _ = bag.withLock { $0.take() }
        }
        let disposable = trigger.single.flatMap { place.chain(act) }.subscribe(
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

    @Test("The same chain may be subscribed to again", arguments: places)
    func subscribeAgain(place: Place) {
        let started = Locked(1)
        let again = Locked<Single<Int>?>(nil)
        let log = Log<String>()
        let chain = place.chain {
            guard started.withLock({ started in (started < 4, started += 1).0 }) else { return }
            _ = again.withLock { $0 }?.subscribe(onFailure: { _ in }, onDisposed: log.adds("disposed"))
        }
        again.withLock { $0 = chain }
        _ = chain.subscribe(onFailure: { _ in }, onDisposed: log.adds("disposed"))
        again.withLock { $0 = nil }
        // One for each subscription. A second subscriber of `share` joins the first, so that two are enough there.
        #expect(log.count == (place.testDescription == "a source of share" ? 2 : 4))
    }
}

/// Returns `value` after it has called `act`.
@Sendable func value<Value>(_ value: Value, after act: () -> Void) -> Value {
    act()
    return value
}

/// Runs everything at once, after `act`.
private struct ImmediateScheduler: Scheduler {
    var act: @Sendable () -> Void = {}
    var now: DispatchTime { .now() }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        act()
        action()
        return Disposables.create()
    }
}
