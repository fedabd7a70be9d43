import MiniRx
import TestSupport
import Testing

@Suite("DisposeBag")
struct DisposeBagTests {
    @Test("It disposes in the order of insertion, though places are used again")
    func order() {
        let log = Log<String>()
        do {
            let bag = DisposeBag()
            let subscription = Single<Int>.never().subscribe()
            subscription.disposed(by: bag)
            log.disposable("first").disposed(by: bag)
            subscription.dispose()
            log.disposable("second").disposed(by: bag)
        }
        #expect(log.entries == ["first", "second"])
    }

    @Test("It disposes what it holds when it goes")
    func disposal() {
        let log = Log<String>()
        do {
            let bag = DisposeBag()
            log.disposable("a").disposed(by: bag)
            bag.insert(log.disposable("b"))
            #expect(log.entries == [])
        }
        #expect(log.entries == ["a", "b"])
    }

    @Test("A bag that goes disposes the subscriptions that are active, each of however many")
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

    @Test("A callback may insert into the bag that holds its subscription")
    func reentrant() {
        let log = Log<String>()
        let producer = Producer<Int>()
        do {
            let bag = DisposeBag()
            producer.single.subscribe(onSuccess: { [unowned bag] _ in log.disposable("inner").disposed(by: bag) }).disposed(by: bag)
            producer.send(.success(1))
            #expect(log.entries == [])
        }
        #expect(log.entries == ["inner"])
    }

    @Test("A subscription that has ended is let go, in however many bags it is", arguments: [true, false])
    func ended(isDisposed: Bool) {
        let bags = [DisposeBag(), DisposeBag()]
        let producer = Producer<Int>()
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let source = Single<Int>.create { observer in
                let inner = producer.single.subscribe(observer)
                return Disposables.create { inner.dispose() }
            }
            let disposable = source.subscribe(onSuccess: { _ in withExtendedLifetime(held) {} })
            bags.forEach(disposable.disposed)
            if isDisposed { disposable.dispose() }
        }
        if !isDisposed { producer.send(.success(1)) }
        #expect(token == nil)
        withExtendedLifetime(bags) {}
    }

    @Test("A subscription that has ended before it is inserted is let go")
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
    @Test("200,000 finished subscriptions leave its memory as it was", .longComputing)
    func flat() async {
        await #expect(processExitsWith: .success) {
            let bag = DisposeBag()
            // One that stays keeps the bag from being empty.
            Single<Int>.never().subscribe().disposed(by: bag)
            let producer = LatestProducer()
            func subscribe(times: Int) {
                for _ in 0..<times {
                    producer.single.subscribe(onSuccess: { _ in }).disposed(by: bag)
                    producer.send(.success(1))
                }
            }
            subscribe(times: 10_000)
            let before = try residentKilobytes()
            subscribe(times: 200_000)
            // A bag that kept their places would hold 8 MB, and over 40 MB with them.
            #expect(try residentKilobytes() - before < 4_000)
        }
    }

    @Test("A bag that is empty again does not keep the memory that it needed when it was full")
    func emptied() async {
        await #expect(processExitsWith: .success) {
            func usedBag() -> DisposeBag {
                let bag = DisposeBag()
                let disposable = Single<Int>.never().subscribe()
                for _ in 0..<10_000 { bag.insert(disposable) }
                disposable.dispose()
                return bag
            }
            _ = usedBag()
            let before = try residentKilobytes()
            let bags = (0..<20).map { _ in usedBag() }
            // The places of 20 bags take 16 MB.
            #expect(try residentKilobytes() - before < 5_000)
            withExtendedLifetime(bags) {}
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
