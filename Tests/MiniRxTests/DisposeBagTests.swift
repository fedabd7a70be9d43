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

    enum Ending: CaseIterable { case event, dispose, beforeInsertion }

    @Test("A subscription that has ended is released by each of its bags", arguments: Ending.allCases)
    func ended(ending: Ending) {
        let bags = [DisposeBag(), DisposeBag()]
        weak var subscription: AnyObject?
        do {
            let producer = Producer<Int>()
            let disposable = producer.single.subscribe()
            subscription = disposable as AnyObject
            if ending == .beforeInsertion { disposable.dispose() }
            bags.forEach(disposable.disposed)
            #expect(subscription != nil)
            if ending == .event { producer.send(.success(1)) } else { disposable.dispose() }
        }
        #expect(subscription == nil)
        withExtendedLifetime(bags) {}
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("Finished subscriptions leave its memory as it was, and an empty bag needs none")
    func flat() async {
        await #expect(processExitsWith: .success) {
            let bag = DisposeBag()
            // This subscription keeps the bag from being empty.
            Single<Int>.never().subscribe().disposed(by: bag)
            // A bag that kept their places would hold 4 MB, and over 20 MB with them.
            let isFlatAfterSubscriptions = try isFlat(within: 3_000) {
                for _ in 0..<100_000 {
                    let disposable = Single<Int>.never().subscribe()
                    disposable.disposed(by: bag)
                    disposable.dispose()
                }
            }
            #expect(isFlatAfterSubscriptions)
            var bags: [DisposeBag] = []
            // The places of 20 bags take 16 MB.
            let areEmptyBagsSmall = try isFlat(within: 5_000) {
                for _ in 0..<20 {
                    let bag = DisposeBag()
                    let disposable = Single<Int>.never().subscribe()
                    for _ in 0..<10_000 { bag.insert(disposable) }
                    disposable.dispose()
                    bags.append(bag)
                }
            }
            #expect(areEmptyBagsSmall)
        }
    }
    #endif
}
