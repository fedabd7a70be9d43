// What apps have beside the chains: operators of their own, schedulers in properties, disposables, and names of older versions.

import Dispatch
import RxSwiftNames
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

extension PrimitiveSequenceType where Trait == SingleTrait {
    fileprivate func asText() -> Single<String> { return primitiveSequence.map { "\($0)" } }
}

private class Clock {
    let scheduler: SchedulerType
    var later: SchedulerType!

    init(scheduler: SchedulerType? = nil) {
        self.scheduler = scheduler ?? ConcurrentDispatchQueueScheduler(qos: .default)
        later = scheduler
    }

    func tick(isMain: Bool) -> Single<Int> {
        return Single<Int>.just(1)
            .observe(on: isMain ? MainScheduler.instance : scheduler)
            .delaySubscription(.seconds(1), scheduler: later)
    }
}

final class EverydayTests: XCTestCase {
    func testOperatorsOfAnApp() {
        var texts: [String] = []
        _ = Single.just(2).retryOnce().doubled().asText().subscribe(onSuccess: { texts.append($0) })
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
        scheduler.advance(by: .seconds(3))
        XCTAssertEqual(events, [0, 1, 2])
    }

    func testTimeoutWithAnotherSingle() {
        let scheduler = TestScheduler()
        var released = 0
        let source = Single<Int>.create { _ in Disposables.create { released += 1 } }
        var events: [String] = []
        _ = source.timeout(.seconds(1), other: .error(NetworkError.offline), scheduler: scheduler)
            .subscribe(onFailure: { events.append("\($0)") })
        _ = Single<Int>.error(RxError.timeout).timeout(.seconds(1), other: .just(1), scheduler: scheduler)
            .subscribe(onFailure: { events.append($0.localizedDescription) })
        scheduler.run()
        XCTAssertEqual(released, 1)
        XCTAssertEqual(events, ["No event arrived in time.", "offline"])
    }

    func testUsingDisposesItsResource() {
        let resource = BooleanDisposable()
        _ = Single<Int>.using({ resource }, primitiveSequenceFactory: { _ in .just(1) }).subscribe(onSuccess: { _ in
            XCTAssertFalse(resource.isDisposed)
        })
        XCTAssertTrue(resource.isDisposed)
        let second = BooleanDisposable()
        var errors = 0
        _ = Single<Int>.using({ second }, primitiveSequenceFactory: { _ in throw NetworkError.offline }).subscribe(onFailure: { _ in
            errors += 1
        })
        XCTAssertTrue(second.isDisposed)
        XCTAssertEqual(errors, 1)
    }

    func testDisposables() {
        let first = BooleanDisposable()
        let second = BooleanDisposable()
        let late = BooleanDisposable()
        let composite = CompositeDisposable(first)
        let key = composite.insert(second)
        XCTAssertEqual(composite.count, 2)
        if let key = key { composite.remove(for: key) }
        XCTAssertTrue(second.isDisposed)
        XCTAssertFalse(first.isDisposed)
        composite.dispose()
        XCTAssertNil(composite.insert(late))
        XCTAssertTrue(first.isDisposed && late.isDisposed && composite.isDisposed)

        let single = SingleAssignmentDisposable()
        let held = BooleanDisposable(isDisposed: false)
        single.setDisposable(held)
        single.dispose()
        XCTAssertTrue(held.isDisposed && single.isDisposed)
    }

    func testABagOfLines() {
        let first = BooleanDisposable()
        let second = BooleanDisposable()
        do {
            let bag = DisposeBag {
                first
                Single<Int>.never().subscribe()
            }
            bag.insert {
                second
            }
            withExtendedLifetime(bag) { XCTAssertFalse(first.isDisposed) }
        }
        XCTAssertTrue(first.isDisposed && second.isDisposed)
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

    func testErrors() {
        XCTAssertEqual(RxError.timeout.localizedDescription, "No event arrived in time.")
    }

    @available(*, deprecated)  // So that the names of older versions are no warnings here.
    func testOldNames() {
        var events: [String] = []
        let scheduler = TestScheduler()
        _ = Single<Int>.error(NetworkError.offline)
            .catchError { .error($0) }
            .catchErrorJustReturn(1)
            .subscribeOn(scheduler)
            .observeOn(scheduler)
            .subscribe(onSuccess: { events.append("\($0)") }, onError: { _ in events.append("error") })
        scheduler.run()
        XCTAssertEqual(events, ["1"])
    }
}
