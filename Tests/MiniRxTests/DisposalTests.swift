import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Disposal")
struct DisposalTests {
    @Test("Nothing comes after dispose")
    func silence() {
        let events = Log<String>()
        let producer = Producer<Int>()
        let disposable = producer.single.subscribe { events.append("\($0)") }
        disposable.dispose()
        disposable.dispose()
        producer.send(.success(1))
        #expect(events.entries == [])
    }

    @Test("The order is event, release, onDisposed, however the event comes", arguments: Ending.allCases)
    func order(ending: Ending) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let source =
            ending == .atOnce
            ? Single<Int>.create {
                $0(.success(1))
                return log.disposable()
            } : producer.single
        let disposable = source.map { $0 }.subscribe(
            onSuccess: { _ in log.append("event") }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        switch ending {
        case .atOnce: break
        case .success: producer.send(.success(1))
        case .failure: producer.send(.failure(TestError()))
        case .dispose: disposable.dispose()
        }
        #expect(log.entries == (ending == .dispose ? ["release", "disposed"] : ["event", "release", "disposed"]))
    }

    enum Ending: CaseIterable { case atOnce, success, failure, dispose }

    @Test("just ends with its event and then onDisposed")
    func just() {
        let log = Log<String>()
        _ = Single.just(1).subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        #expect(log.entries == ["event", "disposed"])
    }

    @Test("never ends by dispose alone")
    func never() {
        let log = Log<String>()
        let disposable = Single<Int>.never().subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        #expect(log.entries == [])
        disposable.dispose()
        #expect(log.entries == ["disposed"])
    }

    @Test("A dispose while the body runs waits for the resource, which is disposed as soon as it is returned")
    func duringBody() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        let body = Single<Int>.create { observer in
            disposable.dispose()
            observer(.success(2))
            log.append("body ends")
            return log.disposable()
        }
        disposable.disposable = producer.single.flatMap { _ in body }
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["body ends", "release", "disposed"])
    }

    @Test("A dispose inside an operator's closure stops its own event")
    func insideOperator() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        disposable.disposable = producer.single
            .map { value in
                disposable.dispose()
                return value
            }
            .subscribe(onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release", "disposed"])
    }

    @Test("A dispose inside the observer changes nothing about the order")
    func insideObserver() {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        disposable.disposable = producer.single.subscribe(
            onSuccess: { _ in
                disposable.dispose()
                log.append("event")
            }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["event", "release", "disposed"])
    }

    @Test("A hop behind a source that ends at once is disposed like any other")
    func hop() {
        let scheduler = TestScheduler()
        let singles: [Single<Int>] = [
            .zip(.just(1), .just(2)) { $0 + $1 }, Single.just(1).do(onDispose: {}),
            Single.just(1).timeout(.seconds(1), scheduler: scheduler),
            .create { observer in
                observer(.success(1))
                return Disposables.create()
            },
        ]
        for single in singles {
            let log = Log<String>()
            let disposable = single.observe(on: scheduler).subscribe(
                onSuccess: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
            #expect(log.entries == [])
            disposable.dispose()
            #expect(log.entries == ["disposed"])
            scheduler.run()
            #expect(log.entries == ["disposed"])
        }
    }

    @Test("A disposed chain does not subscribe to what flatMap returns")
    func noNextSource() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        let next = Single<Int>.create { _ in
            log.append("next")
            return Disposables.create()
        }
        disposable.disposable = producer.single
            .flatMap { _ in
                disposable.dispose()
                return next
            }
            .subscribe(onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["disposed"])
    }

    @Test("flatMap and catch release the earlier source before they subscribe to the next", arguments: [true, false])
    func earlierFirst(isSuccess: Bool) {
        let log = Log<String>()
        let first = Producer<Int> { log.disposable("release first") }
        let second = Single<Int>.create {
            log.append("subscribe second")
            $0(.success(2))
            return log.disposable("release second")
        }
        let chain = isSuccess ? first.single.flatMap { _ in second } : first.single.catch { _ in second }
        _ = chain.subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        first.send(isSuccess ? .success(1) : .failure(TestError()))
        #expect(log.entries == ["release first", "subscribe second", "event 2", "release second", "disposed"])
    }

    @Test("So they do when the first source bridges another single")
    func earlierFirstWhenBridged() {
        let log = Log<String>()
        let first = Single<Int>.create { observer in
            _ = Single.just(1).subscribe(observer)
            log.append("body ends")
            return log.disposable("release first")
        }
        let second = Single<Int>.deferred {
            log.append("subscribe second")
            return .just(2)
        }
        _ = first.flatMap { _ in second }.subscribe(onDisposed: log.adds("disposed"))
        #expect(log.entries == ["body ends", "release first", "subscribe second", "disposed"])
    }

    @Test("Once dispose has returned inside a closure, none of the chain's other closures runs", arguments: DisposingChain.allCases)
    fileprivate func noClosureAfterDispose(chain: DisposingChain) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let disposable = SerialDisposable()
        disposable.disposable = chain.single(producer.single, log) { disposable.dispose() }
            .subscribe(
                onSuccess: { _ in log.append("success") }, onFailure: { _ in log.append("failure") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["release", "disposed"])
    }

    @Test("The after closures run even if the observer disposes")
    func afterClosureAfterDispose() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let disposable = SerialDisposable()
        disposable.disposable = producer.single.do(afterSuccess: { _ in log.append("after") })
            .subscribe(onSuccess: { _ in disposable.dispose() }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        #expect(log.entries == ["after", "disposed"])
    }

    @Test("An event for a sibling subscribes to what follows that at once")
    func sibling() {
        let log = Log<String>()
        let first = Producer<Int>()
        let sibling = Producer<Int> { log.disposable() }
        let second = Single<Int>.deferred {
            log.append("second")
            return .just(2)
        }
        _ = Single.zip(
            first.single.map { value in
                sibling.send(.success(1))
                log.append("sent")
                return value
            }, sibling.single.flatMap { _ in second }
        ) { $0 + $1 }.subscribe(onSuccess: { log.append("event \($0)") })
        first.send(.success(1))
        #expect(log.entries == ["release", "second", "sent", "event 3"])
    }

    @Test("A SerialDisposable disposes the old for the new, and what comes after its end")
    func serial() {
        let log = Log<String>()
        let serial = SerialDisposable()
        serial.disposable = log.disposable("first")
        serial.disposable = log.disposable("second")
        #expect(log.entries == ["first"])
        serial.dispose()
        serial.dispose()
        serial.disposable = log.disposable("third")
        #expect(log.entries == ["first", "second", "third"])
        #expect(serial.isDisposed)
    }

    @Test("A disposable acts once")
    func disposables() {
        let log = Log<String>()
        let disposable = Disposables.create(with: log.adds("a"))
        #expect(!disposable.isDisposed)
        disposable.dispose()
        disposable.dispose()
        #expect(disposable.isDisposed)
        #expect(log.entries == ["a"])
    }
}

/// A chain in which a closure disposes. None of those that log may run then.
private enum DisposingChain: CaseIterable {
    case maps, errors, deferredInDeferred, flatMapToDeferred, does, subscribing, zip, timeout, emitting, share

    func single(_ source: Single<Int>, _ log: Log<String>, _ dispose: @escaping @Sendable () -> Void) -> Single<Int> {
        let disposing = source.map { value in
            dispose()
            return value
        }
        @Sendable func logged(_ value: Int) -> Int {
            log.append("closure")
            return value
        }
        let logging = Single.deferred { .just(logged(1)) }
        switch self {
        case .maps: return disposing.map(logged).flatMap { .just(logged($0)) }
        case .errors:
            return disposing.map { _ in throw TestError() }
                .mapError { error in
                    log.append("mapError")
                    return error
                }
                .catch { _ in .just(logged(1)) }
        case .deferredInDeferred:
            return source.flatMap { _ in
                .deferred {
                    dispose()
                    return logging
                }
            }
        case .flatMapToDeferred:
            return source.flatMap { _ in
                dispose()
                return logging
            }
        case .does:
            return source.do(onSuccess: { _ in dispose() }, afterSuccess: { _ in log.append("after") })
                .do(onSuccess: { _ in log.append("do") }, afterSuccess: { _ in log.append("after do") })
        case .subscribing:
            return source.flatMap { _ in
                logging.do(onSubscribe: log.adds("inner"), onSubscribed: log.adds("inner subscribed"))
                    .do(onSubscribe: dispose, onSubscribed: log.adds("subscribed"))
            }
        case .zip:
            return source.flatMap { value in
                .zip(
                    Single.deferred {
                        dispose()
                        return .just(value)
                    }.map(logged), logging
                ) { logged($0 + $1) }
            }
        case .timeout:
            return source.flatMap { _ in
                Single<Int>.deferred {
                    dispose()
                    throw TestError()
                }
                .timeout(.seconds(1), scheduler: TestScheduler())
                .retry(scheduler: TestScheduler()) { failures, _ in .seconds(logged(failures)) }
            }
        case .emitting:
            return source.flatMap { value in
                Single<Int>.create { observer in
                    dispose()
                    observer(.success(value))
                    return Disposables.create()
                }.do(onSuccess: { _ in log.append("do") }, onDispose: {}).map(logged)
            }
        case .share:
            return source.share()
                .map { value in
                    dispose()
                    return value
                }
                .map(logged)
        }
    }
}
