// What apps have beside the chains: their own operators, schedulers in properties, disposables, and names of older versions.

import Dispatch
import MiniRx
import XCTest

private enum NetworkError: Error { case offline }

extension PrimitiveSequence where Trait == SingleTrait {
    fileprivate func retryOnce() -> Single<Element> { return self.retry(2) }

    fileprivate func asResult() -> Single<Result<Element, Error>> {
        return self.map { .success($0) }.catch { .just(.failure($0)) }
    }
}

extension PrimitiveSequence where Trait == SingleTrait, Element == Int {
    fileprivate func doubled() -> Single<Int> { return map { $0 * 2 } }
}

private class Clock {
    let scheduler: SchedulerType
    let interval: RxTimeInterval = .seconds(1)
    var later: SchedulerType!

    init(scheduler: SchedulerType? = nil) {
        self.scheduler = scheduler ?? ConcurrentDispatchQueueScheduler(qos: .default)
        later = scheduler
    }

    func tick(isMain: Bool) -> Single<Int> {
        return Single<Int>.just(1)
            .observe(on: isMain ? MainScheduler.instance : scheduler)
            .delaySubscription(interval, scheduler: later)
    }
}

final class EverydayTests: XCTestCase {
    func testOperatorsOfAnApp() {
        var texts: [String] = []
        _ = Single.just(2).retryOnce().doubled().subscribe(onSuccess: { texts.append("\($0)") })
        _ = Single<Int>.error(NetworkError.offline).asResult().subscribe(onSuccess: {
            texts.append("\($0)".contains("offline") ? "offline" : "")
        })
        XCTAssertEqual(texts, ["4", "offline"])
    }

    func testTime() {
        let scheduler = TestScheduler()
        var events: [Int] = []
        _ = Single<Int>.timer(.seconds(1), scheduler: scheduler).subscribe(onSuccess: { events.append($0) })
        _ = Single<Int>.never().timeout(.seconds(2), other: .just(2), scheduler: scheduler).subscribe(onSuccess: { events.append($0) })
        _ = Clock(scheduler: scheduler).tick(isMain: false).subscribe(onSuccess: { events.append($0) })
        scheduler.advance(by: .milliseconds(999))
        XCTAssertEqual(events, [])
        scheduler.advance(by: .seconds(2))
        XCTAssertEqual(events, [0, 1, 2])
    }

    func testTimeoutWithAnotherSingle() {
        let scheduler = TestScheduler()
        var released = 0
        let source = Single<Int>.create { _ in Disposables.create { released += 1 } }
        var events: [String] = []
        _ = source.timeout(.seconds(1), other: .error(NetworkError.offline), scheduler: scheduler)
            .subscribe(onFailure: { events.append("\($0)") })
        // An error of the source is passed on, even if it is a timeout.
        _ = Single<Int>.error(RxError.timeout).timeout(.seconds(1), other: .just(1), scheduler: scheduler)
            .subscribe(onFailure: { events.append($0.localizedDescription) })
        scheduler.run()
        XCTAssertEqual(released, 1)
        XCTAssertEqual(events, ["No event arrived in time.", "offline"])
    }

    func testDebugPassesTheEventOn() {
        var events: [String] = []
        _ = Single.just(1).debug("one").subscribe(onSuccess: { events.append("\($0)") })
        _ = Single<Int>.error(NetworkError.offline).debug().subscribe(onFailure: { events.append("\($0)") })
        XCTAssertEqual(events, ["1", "offline"])
    }

    func testDisposables() {
        var disposed: [String] = []
        func disposable(_ name: String) -> Disposable { return Disposables.create { disposed.append(name) } }
        do {
            let (first, second) = (disposable("a"), disposable("b"))
            Disposables.create(first, second).dispose()
        }
        XCTAssertEqual(disposed, ["a", "b"])
        do {
            let (first, second) = (disposable("c"), disposable("d"))
            let bag = DisposeBag()
            bag.insert(first, second)
            bag.insert([disposable("e")])
            withExtendedLifetime(bag) { XCTAssertEqual(disposed.count, 2) }
        }
        XCTAssertEqual(disposed, ["a", "b", "c", "d", "e"])
    }

    func testADisposableThatIsSetLater() {
        var disposed: [String] = []
        let early = SingleAssignmentDisposable()
        early.setDisposable(Disposables.create { disposed.append("early") })
        XCTAssertEqual(disposed, [])
        early.dispose()
        let late = SingleAssignmentDisposable()
        late.dispose()
        late.setDisposable(Disposables.create { disposed.append("late") })
        XCTAssertEqual(disposed, ["early", "late"])
    }

    func testAsyncInstance() {
        let done = expectation(description: "a turn of the main queue")
        var entries: [String] = []
        _ = Single.just(1).observe(on: MainScheduler.asyncInstance).subscribe(onSuccess: { _ in
            entries.append("event")
            done.fulfill()
        })
        entries.append("subscribed")
        wait(for: [done], timeout: 10)
        XCTAssertEqual(entries, ["subscribed", "event"])
    }

    @available(*, deprecated)  // Without this, the old names would be warnings here.
    func testOldNames() {
        var events: [String] = []
        let scheduler = TestScheduler()
        _ = Single<Int>.error(NetworkError.offline)
            .catchError { .error($0) }
            .catchErrorJustReturn(1)
            .subscribeOn(scheduler)
            .observeOn(scheduler)
            .subscribe(onSuccess: { events.append("\($0)") }, onError: { _ in events.append("error") })
        _ = Single<Int>.error(NetworkError.offline).subscribe(onError: { _ in events.append("error") })
        scheduler.run()
        XCTAssertEqual(events, ["error", "1"])
    }
}
