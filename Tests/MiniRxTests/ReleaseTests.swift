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
        weak var inNever: Token?
        weak var inCreate: Token?
        do {
            let first = Token()
            let second = Token()
            (inNever, inCreate) = (first, second)
            _ = Single<Int>.never().subscribe(onSuccess: { _ in withExtendedLifetime(first) {} })
            _ = Single<Int>.create { _ in Disposables.create() }.map { $0 }.subscribe(onSuccess: { _ in withExtendedLifetime(second) {} })
        }
        #expect(inNever == nil)
        #expect(inCreate == nil)
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
