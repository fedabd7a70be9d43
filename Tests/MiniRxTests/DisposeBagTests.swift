import MiniRx
import TestSupport
import Testing

@Suite("DisposeBag", tenMinutes)
struct DisposeBagTests {
    @Test("It disposes in the order of insertion when it is released, even after subscriptions have ended")
    func order() {
        let log = Log<String>()
        do {
            let bag = DisposeBag()
            let subscription = Single<Int>.never().subscribe()
            subscription.disposed(by: bag)
            log.disposable("first").disposed(by: bag)
            subscription.dispose()
            bag.insert(log.disposable("second"))
            #expect(log.entries == [])
        }
        #expect(log.entries == ["first", "second"])
    }

    @Test("It disposes each of many active subscriptions")
    func activeSubscriptions() {
        let log = Log<Int>()
        let sources = (0..<200).map { number in Producer<Int> { Disposables.create { log.append(number) } } }
        do {
            let bag = DisposeBag()
            for source in sources { source.single.subscribe().disposed(by: bag) }
            for source in sources.prefix(100) { source.send(.success(1)) }
            for source in sources.prefix(50) { source.single.subscribe().disposed(by: bag) }
            #expect(log.entries.sorted() == Array(0..<100))
        }
        #expect(log.entries.sorted() == (0..<50).flatMap { [$0, $0] } + Array(50..<200))
    }

    @Test("A subscription that has ended is released, in however many bags it is", arguments: [true, false])
    func ended(isDisposed: Bool) {
        let bags = [DisposeBag(), DisposeBag()]
        let producer = Producer<Int>()
        let isKept = isKept { token in
            let source = Single<Int>.create { observer in
                let inner = producer.single.subscribe(observer)
                return Disposables.create { inner.dispose() }
            }
            let disposable = source.subscribe(onSuccess: { _ in withExtendedLifetime(token) {} })
            bags.forEach(disposable.disposed)
            if isDisposed { disposable.dispose() } else { producer.send(.success(1)) }
        }
        #expect(!isKept)
        withExtendedLifetime(bags) {}
    }

    @Test("A subscription that has ended before it is inserted is released")
    func endedBefore() {
        let bag = DisposeBag()
        let producer = LatestProducer()
        weak var subscription: AnyObject?
        do {
            let disposable = producer.single.subscribe()
            subscription = disposable as AnyObject
            #expect(subscription != nil)
            producer.send(.success(1))
            bag.insert(disposable)
        }
        #expect(subscription == nil)
        withExtendedLifetime(bag) {}
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("Finished subscriptions leave its memory as it was, and an empty bag needs none", .longComputing)
    func flat() async {
        await #expect(processExitsWith: .success) {
            let bag = DisposeBag()
            // One that stays keeps the bag from being empty.
            Single<Int>.never().subscribe().disposed(by: bag)
            let producer = LatestProducer()
            // A bag that kept their places would hold 4 MB, and over 20 MB with them.
            let isFlat = try isFlat(within: 3_000) {
                for _ in 0..<100_000 {
                    producer.single.subscribe(onSuccess: { _ in }).disposed(by: bag)
                    producer.send(.success(1))
                }
            }
            #expect(isFlat)
        }
        await #expect(processExitsWith: .success) {
            var bags: [DisposeBag] = []
            // The places of 20 bags take 16 MB.
            let isFlat = try isFlat(within: 5_000) {
                for _ in 0..<20 {
                    let bag = DisposeBag()
                    let disposable = Single<Int>.never().subscribe()
                    for _ in 0..<10_000 { bag.insert(disposable) }
                    disposable.dispose()
                    bags.append(bag)
                }
            }
            #expect(isFlat)
        }
    }
    #endif
}

/// A source that keeps the last callback only, so that its own memory stays flat.
private final class LatestProducer: Sendable {
    private let observer = Locked<Single<Int>.SingleObserver?>(nil)

    var single: Single<Int> {
        .create { observer in
            self.observer.withLock { $0 = observer }
            return Disposables.create()
        }
    }

    func send(_ event: SingleEvent<Int>) { observer.withLock { $0.take() }?(event) }
}
