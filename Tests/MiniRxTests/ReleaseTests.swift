import MiniRx
import TestSupport
import Testing

@Suite("After the end nothing is kept alive")
struct ReleaseTests {
    @Test("Every captured object is let go though the producer keeps its callback", arguments: [true, false], [true, false])
    func captures(isDisposed: Bool, isSuccess: Bool) {
        let producer = Producer<Int>()
        weak var operatorToken: Token?
        weak var observerToken: Token?
        weak var resourceToken: Token?
        var disposable: (any Disposable)?
        do {
            let inOperator = Token()
            let inObserver = Token()
            let inResource = Token()
            (operatorToken, observerToken, resourceToken) = (inOperator, inObserver, inResource)
            let source = Single<Int>.create { observer in
                let inner = producer.single.subscribe(observer)
                return Disposables.create { withExtendedLifetime(inResource) { inner.dispose() } }
            }
            disposable =
                source
                .map { value in withExtendedLifetime(inOperator) { value } }
                .flatMap { value in withExtendedLifetime(inOperator) { .just(value) } }
                .catch { error in withExtendedLifetime(inOperator) { .error(error) } }
                .do(onSuccess: { _ in withExtendedLifetime(inOperator) {} }, onDispose: { withExtendedLifetime(inOperator) {} })
                .subscribe(
                    onSuccess: { _ in withExtendedLifetime(inObserver) {} }, onFailure: { _ in withExtendedLifetime(inObserver) {} },
                    onDisposed: { withExtendedLifetime(inObserver) {} })
        }
        #expect(operatorToken != nil)
        #expect(observerToken != nil)
        #expect(resourceToken != nil)
        if isDisposed { disposable?.dispose() } else { producer.send(isSuccess ? .success(1) : .failure(TestError())) }
        #expect(operatorToken == nil)
        #expect(observerToken == nil)
        #expect(resourceToken == nil)
        withExtendedLifetime((producer, disposable)) {}
    }

    @Test("A single that never ends, subscribed and dropped, leaves nothing behind")
    func dropped() {
        let atOnce = Single<Int>.create { observer in
            observer(.success(1))
            return Disposables.create()
        }
        let forgetful = Single<Int>.create { _ in Disposables.create() }
        for single in [.never(), forgetful, atOnce.flatMap { _ in forgetful }] {
            weak var token: Token?
            do {
                let held = Token()
                token = held
                _ = single.map { $0 }.subscribe(onSuccess: { _ in withExtendedLifetime(held) {} })
            }
            #expect(token == nil)
        }
    }

    @Test("Operators that can end without their source leave nothing behind once disposed", arguments: [0, 1, 2, 3])
    func droppedParts(index: Int) {
        weak var token: Token?
        let chains: [(Single<Int>) -> Single<Int>] = [
            { Single<Int>.zip($0, .never()) { $0 + $1 } }, { $0.do(onDispose: {}) }, { $0.share() },
            { $0.timeout(.seconds(1), scheduler: TestScheduler()) },
        ]
        for source in [Single<Int>.never(), .create { _ in Disposables.create() }] {
            do {
                let held = Token()
                token = held
                chains[index](source).subscribe(onSuccess: { _ in withExtendedLifetime(held) {} }).dispose()
            }
            #expect(token == nil)
        }
    }

    @Test("zip lets go of its values when the event is there, though what follows lives", arguments: [true, false])
    func zipValues(isSuccess: Bool) {
        weak var token: Token?
        let disposable: any Disposable
        do {
            let held = Token()
            token = held
            let (first, second) = (Producer<Token>(), Producer<Token>())
            disposable = Single.zip(first.single, second.single).flatMap { _ in Single<Int>.never() }.catch { _ in .never() }.subscribe()
            first.send(.success(held))
            second.send(isSuccess ? .success(held) : .failure(TestError()))
        }
        #expect(token == nil)
        disposable.dispose()
    }

    @Test("share lets go of what a member holds when its event is there, though what follows lives")
    func shareMember() {
        weak var token: Token?
        let producer = Producer<Int>()
        let disposable: any Disposable
        do {
            let held = Token()
            token = held
            disposable = producer.single.share().flatMap { _ in withExtendedLifetime(held) { Single<Int>.never() } }.subscribe()
            producer.send(.success(1))
        }
        #expect(token == nil)
        disposable.dispose()
    }

    @Test("What is released may use the library: no lock is held meanwhile")
    func deinitIsUserCode() {
        let log = Log<String>()
        let bag = DisposeBag()
        let producer = Producer<Int>()
        let serial = SerialDisposable()
        do {
            let probe = Probe {
                Single.just(1).subscribe(onSuccess: { _ in log.append("gone") }).disposed(by: bag)
                producer.send(.success(2))
                serial.dispose()
            }
            serial.disposable = producer.single.map { value in withExtendedLifetime(probe) { value } }.subscribe()
            serial.disposable.disposed(by: bag)
        }
        serial.dispose()
        #expect(log.entries == ["gone"])
    }
}

private final class Probe: Sendable {
    let onDeinit: @Sendable () -> Void
    init(onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
    deinit { onDeinit() }
}
