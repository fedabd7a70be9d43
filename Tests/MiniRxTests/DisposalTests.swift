import MiniRx
import TestSupport
import Testing

@Suite("Disposal")
struct DisposalTests {
    enum Ending: CaseIterable { case atOnce, success, failure, dispose, disposeInObserver }

    @Test("The order is event, release, onDisposed, however the event comes", arguments: Ending.allCases)
    func order(ending: Ending) {
        let log = Log<String>()
        let producer = Producer<Int> { log.disposable() }
        let atOnce = Single<Int>.create { observer in
            observer(.success(1))
            return log.disposable()
        }
        let disposable = SerialDisposable()
        disposable.disposable = (ending == .atOnce ? atOnce : producer.single).map { $0 }.subscribe(
            onSuccess: { _ in
                if ending == .disposeInObserver { disposable.dispose() }
                log.append("event")
            }, onFailure: { _ in log.append("event") }, onDisposed: log.adds("disposed"))
        switch ending {
        case .atOnce: break
        case .success, .disposeInObserver: producer.send(.success(1))
        case .failure: producer.send(.failure(TestError()))
        case .dispose: disposable.dispose()
        }
        #expect(log.entries == (ending == .dispose ? [] : ["event"]) + ["release", "disposed"])
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

    @Test("flatMap and catch release the earlier source before they subscribe to the next", arguments: [true, false])
    func earlierFirst(isSuccess: Bool) {
        let log = Log<String>()
        let first = Producer<Int> { log.disposable("release first") }
        let second = Single<Int>.create { observer in
            log.append("subscribe second")
            observer(.success(2))
            return log.disposable("release second")
        }
        let chain = isSuccess ? first.single.flatMap { _ in second } : first.single.catch { _ in second }
        _ = chain.subscribe(onSuccess: { log.append("event \($0)") }, onDisposed: log.adds("disposed"))
        first.send(isSuccess ? .success(1) : .failure(TestError()))
        #expect(log.entries == ["release first", "subscribe second", "event 2", "release second", "disposed"])
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

    @Test("A SerialDisposable disposes the old for the new, and everything that it gets after its end")
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

/// A chain that disposes itself in a closure. None of its closures that log may run after that. The model disposes in `map` and in
/// `afterSuccess`, and `ReentrancyTests` in the last closure of a chain.
private enum DisposingChain: CaseIterable {
    case errors, deferredInDeferred, flatMapToDeferred, does, subscribing, zip, timeout, emitting, share

    func single(_ source: Single<Int>, _ log: Log<String>, _ dispose: @escaping @Sendable () -> Void) -> Single<Int> {
        @Sendable func disposing(_ value: Int) -> Int {
            dispose()
            return value
        }
        @Sendable func logged(_ value: Int) -> Int {
            log.append("closure")
            return value
        }
        let logging = Single.deferred { .just(logged(1)) }
        switch self {
        case .errors:
            return source.map { _ -> Int in
                dispose()
                throw TestError()
            }
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
                .zip(Single.deferred { .just(disposing(value)) }.map(logged), logging) { logged($0 + $1) }
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
                    observer(.success(disposing(value)))
                    return Disposables.create()
                }
                .do(onSuccess: { _ in log.append("do") }, onDispose: {}).map(logged)
            }
        case .share:
            return source.flatMap { _ in
                Single<Int>.create { _ in
                    dispose()
                    return Disposables.create()
                }
                .do(onSubscribed: log.adds("subscribed")).share()
            }
        }
    }
}
