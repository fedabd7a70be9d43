import MiniRx
import TestSupport
import Testing

@Suite("Nothing is kept alive after the end")
struct ReleaseTests {
    @Test("Every captured object is released, even if the producer keeps its callback", arguments: [true, false], [true, false])
    func captures(isDisposed: Bool, isSuccess: Bool) {
        let producer = Producer<Int>()
        var disposable: (any Disposable)?
        let isKept = isKept { token in
            let source = Single<Int>.create { observer in
                let inner = producer.single.subscribe(observer)
                return Disposables.create { withExtendedLifetime(token) { inner.dispose() } }
            }
            disposable =
                source
                .map { value in withExtendedLifetime(token) { value } }
                .flatMap { value in withExtendedLifetime(token) { .just(value) } }
                .catch { error in withExtendedLifetime(token) { .error(error) } }
                .do(onSuccess: { _ in withExtendedLifetime(token) {} }, onDispose: { withExtendedLifetime(token) {} })
                .subscribe(
                    onSuccess: { _ in withExtendedLifetime(token) {} }, onFailure: { _ in withExtendedLifetime(token) {} },
                    onDisposed: { withExtendedLifetime(token) {} })
            if isDisposed { disposable?.dispose() } else { producer.send(isSuccess ? .success(1) : .failure(TestError())) }
        }
        #expect(!isKept)
        withExtendedLifetime((producer, disposable)) {}
    }

    private struct Holder: Disposable {
        let token: Token
        func dispose() {}
    }

    @Test("A resource is released even if its event came before it and the producer keeps its callback")
    func lateResource() {
        let callbacks = Log<Single<Int>.SingleObserver>()
        let isKept = isKept { token in
            _ = Single<Int>.create { observer in
                callbacks.append(observer)
                observer(.success(1))
                return Holder(token: token)
            }.subscribe()
        }
        #expect(!isKept && callbacks.count == 1)
    }

    @Test("A single that never ends leaves nothing behind when its subscription is dropped")
    func dropped() {
        let atOnce = Single<Int>.create { observer in
            observer(.success(1))
            return Disposables.create()
        }
        let forgetful = Single<Int>.create { _ in Disposables.create() }
        for single in [.never(), forgetful, atOnce.flatMap { _ in forgetful }] {
            #expect(!isKept { token in _ = single.map { $0 }.subscribe(onSuccess: { _ in withExtendedLifetime(token) {} }) })
        }
    }

    @Test("Operators that can end without their source leave nothing behind once they are disposed", arguments: [0, 1, 2, 3, 4])
    func droppedParts(index: Int) {
        let chains: [(Single<Int>) -> Single<Int>] = [
            { Single<Int>.zip($0, .never()) { $0 + $1 } }, { $0.do(onDispose: {}) }, { $0.share() },
            { $0.timeout(.seconds(1), scheduler: TestScheduler()) },
            { Single<[Int]>.zip([$0, .just(1)], maxConcurrent: 1).map { $0[0] } },
        ]
        for source in [Single<Int>.never(), .create { _ in Disposables.create() }, Producer<Int>().single] {
            #expect(!isKept { token in chains[index](source).subscribe(onSuccess: { _ in withExtendedLifetime(token) {} }).dispose() })
        }
    }

    @Test("zip and share release what they hold once the event is delivered, before the next source ends", arguments: [true, false])
    func delivered(isSuccess: Bool) {
        let chains: [(Single<Token>, Single<Token>) -> Single<Token>] = [
            { Single<Token>.zip($0, $1) { first, _ in first } }, { first, second in first.flatMap { _ in second }.share() },
        ]
        for chain in chains {
            var disposable: (any Disposable)?
            let isKept = isKept { token in
                let (first, second) = (Producer<Token>(), Producer<Token>())
                disposable = chain(first.single, second.single)
                    .flatMap { _ in withExtendedLifetime(token) { Single<Int>.never() } }
                    .catch { _ in withExtendedLifetime(token) { .never() } }.subscribe()
                first.send(.success(token))
                second.send(isSuccess ? .success(token) : .failure(TestError()))
            }
            #expect(!isKept)
            disposable?.dispose()
        }
    }

    @Test("An object that is released may use the library: no lock is held meanwhile")
    func deinitIsUserCode() {
        let log = Log<String>()
        let bag = DisposeBag()
        let producer = Producer<Int>()
        let serial = SerialDisposable()
        do {
            let probe = OnRelease {
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
