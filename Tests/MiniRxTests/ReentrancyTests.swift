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

    /// Returns 1 after `act`.
    @Sendable private static func one(_ act: () -> Void) -> Int {
        act()
        return 1
    }

    static let places = [
        Place("the body of create") { act in
            .create { observer in
                observer(.success(one(act)))
                return Disposables.create()
            }
        },
        Place("the disposable of create") { act in
            .create { observer in
                observer(.success(1))
                return Disposables.create(with: act)
            }
        },
        Place("the factory of deferred") { act in .deferred { .just(one(act)) } },
        Place("map") { act in Single.just(1).map { _ in one(act) } },
        Place("flatMap") { act in Single.just(1).flatMap { _ in .just(one(act)) } },
        Place("catch") { act in failure.catch { _ in .just(one(act)) } },
        Place("mapError") { act in failure.mapError { _ in TestError("\(one(act))") } },
        Place("retry(scheduler:when:)") { act in
            failure.retry(scheduler: ImmediateScheduler()) { failures, _ in failures < 2 ? .seconds(one(act)) : nil }
        },
        Place("do(onSuccess:)") { act in Single.just(1).do(onSuccess: { _ in act() }) },
        Place("do(afterSuccess:)") { act in Single.just(1).do(afterSuccess: { _ in act() }) },
        Place("do(onError:)") { act in failure.do(onError: { _ in act() }) },
        Place("do(afterError:)") { act in failure.do(afterError: { _ in act() }) },
        Place("do(onSubscribe:)") { act in Single.just(1).do(onSubscribe: act) },
        Place("do(onSubscribed:)") { act in Single.just(1).do(onSubscribed: act) },
        Place("do(onDispose:)") { act in Single.just(1).do(onDispose: act) },
        Place("the selector of zip") { act in .zip(.just(1), Single.just(2)) { _, _ in one(act) } },
        Place("the selector of zip of many") { act in
            .zip(.just(1), Single.just(2), Single.just(3), Single.just(4)) { _, _, _, _ in one(act) }
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

    @Test("The chain may be disposed: it ends once, and sends at most one event", arguments: places)
    func dispose(place: Place) {
        let (events, ends) = (Log<String>(), Log<String>())
        let disposable = SerialDisposable()
        let trigger = Producer<Void>()
        disposable.disposable = trigger.single.flatMap {
            place.chain {
                ends.append("act")
                disposable.dispose()
            }
        }
        .do(onSuccess: { _ in events.append("event") }, onError: { _ in events.append("event") })
        .subscribe(onFailure: { _ in }, onDisposed: ends.adds("disposed"))
        trigger.send(.success(()))
        #expect(ends.entries.contains("act"))
        #expect(ends.entries.filter { $0 == "disposed" }.count == 1)
        #expect(events.count <= 1)
    }

    @Test("Another chain may be subscribed to, and runs at once", arguments: places)
    func subscribe(place: Place) {
        let log = Log<String>()
        let inner = Single.just(1).flatMap { .just($0) }
        _ = place.chain {
            _ = inner.subscribe { log.append("\($0)") }
            log.append("after subscribe")
        }
        .subscribe(onFailure: { _ in }, onDisposed: log.adds("disposed"))
        #expect(log.entries.filter { $0 != "disposed" }.starts(with: ["success(1)", "after subscribe"]))
        #expect(log.entries.filter { $0 == "disposed" }.count == 1)
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

    @Test("The bag that holds the chain may get another disposable, and may be released", arguments: places)
    func dropBag(place: Place) {
        let log = Log<String>()
        let trigger = Producer<Void>()
        let bag = Locked<DisposeBag?>(DisposeBag())
        let disposable = trigger.single.flatMap {
            place.chain {
                bag.withLock { $0 }?.insert(log.disposable("inserted"))
                _ = bag.withLock { $0.take() }
            }
        }
        .subscribe(onFailure: { _ in }, onDisposed: log.adds("disposed"))
        bag.withLock { $0 }?.insert(disposable)
        trigger.send(.success(()))
        #expect(log.entries.sorted() == ["disposed", "inserted"])
    }

    @Test("Observers and onDisposed may do all of this", arguments: [true, false])
    func observers(isSuccess: Bool) {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        do {
            let bag = DisposeBag()
            let act: @Sendable (_ place: String) -> Void = { [unowned bag] place in
                disposable.dispose()
                _ = Single.just(1).subscribe(onSuccess: { _ in log.append(place) })
                log.disposable("inserted").disposed(by: bag)
            }
            let subscription = producer.single
                .subscribe(onSuccess: { _ in act("onSuccess") }, onFailure: { _ in act("onFailure") }, onDisposed: { act("onDisposed") })
            disposable.disposable = subscription
            subscription.disposed(by: bag)
            producer.send(isSuccess ? .success(1) : .failure(TestError()))
            #expect(log.entries == [isSuccess ? "onSuccess" : "onFailure", "onDisposed"])
        }
        #expect(log.entries.suffix(2) == ["inserted", "inserted"])
    }
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
