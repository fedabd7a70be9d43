// Code that was written for RxSwift, in the Swift 5 language mode. Only the import has changed. It compiles without warnings, beside
// RxSwiftNames.swift.

import Dispatch
import MiniRx
import MiniRxTesting
import XCTest

private enum NetworkError: Error { case offline }

private class Cache {
    var values: [String: Int] = ["swift": 3]
}

extension PrimitiveSequence where Trait == SingleTrait {
    fileprivate func retryOnce() -> Single<Element> { return self.retry(2) }

    fileprivate func asResult() -> Single<Result<Element, Error>> {
        return self.map { .success($0) }.catch { .just(.failure($0)) }
    }
}

extension PrimitiveSequence where Trait == SingleTrait, Element == Int {
    fileprivate func doubled() -> Single<Int> { return map { $0 * 2 } }
}

private class SearchViewModel {
    let disposeBag = DisposeBag()
    let cache = Cache()
    let scheduler: SchedulerType
    let interval: RxTimeInterval = .seconds(5)
    var results: [Int] = []
    var message: String?
    var isLoading = false

    init(scheduler: SchedulerType? = nil) {
        self.scheduler = scheduler ?? ConcurrentDispatchQueueScheduler(qos: .default)
    }

    func fetch(_ keyword: String) -> Single<Int> {
        return Single<Int>.create { single in
            if let value = self.cache.values[keyword] {
                single(.success(value))
            } else {
                single(.failure(NetworkError.offline))
            }
            return Disposables.create()
        }
    }

    func search(_ keyword: String) {
        isLoading = true
        fetch(keyword)
            .timeout(interval, scheduler: scheduler)
            .catch { error in
                .error(error)
            }
            .observe(on: scheduler)
            .subscribe(
                onSuccess: { [weak self] value in
                    self?.results.append(value)
                },
                onFailure: { [weak self] error in
                    self?.message = "\(error)"
                },
                onDisposed: { [weak self] in
                    self?.isLoading = false
                }
            )
            .disposed(by: disposeBag)
    }
}

final class RxSwiftStyleTests: XCTestCase {
    private let scheduler = TestScheduler()
    private var events: [String] = []

    func testAViewModelWithWeakSelf() {
        let viewModel = SearchViewModel(scheduler: scheduler)
        viewModel.search("swift")
        viewModel.search("nothing")
        scheduler.run()
        XCTAssertEqual(viewModel.results, [3])
        XCTAssertEqual(viewModel.message, "offline")
        XCTAssertFalse(viewModel.isLoading)
    }

    func testCapturedVariables() {
        let disposeBag = DisposeBag()
        var events: [String] = []
        var attempts = 0
        let cache = Cache()

        Single<Int>.create { single in
            attempts += 1
            single(attempts < 3 ? .failure(NetworkError.offline) : .success(attempts))
            return Disposables.create { events.append("disposed") }
        }
        .retry(3)
        .do(onSuccess: { events.append("success \($0)") }, onError: { _ in events.append("error") })
        .flatMap { value -> Single<String> in
            cache.values["key"] = value
            return .just("value \(value)")
        }
        .subscribe { event in
            switch event {
            case .success(let text): events.append(text)
            case .failure(let error): events.append("\(error)")
            }
        }
        .disposed(by: disposeBag)

        XCTAssertEqual(events, ["disposed", "disposed", "success 3", "disposed", "value 3"])
        XCTAssertEqual(cache.values["key"], 3)
    }

    func testOperatorsOfAnApp() {
        _ = Single.just(2).retryOnce().doubled().subscribe(onSuccess: { self.events.append("\($0)") })
        _ = Single<Int>.error(NetworkError.offline).asResult().subscribe(onSuccess: { self.events.append("\($0)") })
        _ = Single.zip(Single.just(1), Single.just("a")) { number, letter in "\(letter)\(number)" }
            .debug("zip")
            .subscribe(with: self, onSuccess: { $0.events.append($1) }, onDisposed: { $0.events.append("disposed") })
        let disposable: Disposable = Single<Int>.deferred { .never() }.subscribe()
        disposable.dispose()
        XCTAssertEqual(events.first, "4")
        XCTAssertEqual(events.dropFirst(2), ["a1", "disposed"])
    }

    func testTime() {
        let late = Single<Int>.never().timeout(.seconds(2), other: .just(2), scheduler: scheduler)
        let failing = Single<Int>.error(RxError.timeout).timeout(.seconds(1), other: .just(1), scheduler: scheduler)
        _ = Single<Int>.timer(.seconds(1), scheduler: scheduler).subscribe(onSuccess: { self.events.append("\($0)") })
        _ = Single.just(1).delaySubscription(.seconds(1), scheduler: scheduler).subscribe(onSuccess: { self.events.append("\($0)") })
        _ = late.subscribe(onSuccess: { self.events.append("\($0)") })
        _ = failing.subscribe(onFailure: { _ in self.events.append("error") })
        XCTAssertEqual(events, ["error"])
        scheduler.advance(by: .seconds(2))
        XCTAssertEqual(events, ["error", "0", "1", "2"])
    }

    func testDisposables() {
        func disposable(_ name: String) -> Disposable { return Disposables.create { self.events.append(name) } }
        let (first, second) = (disposable("c"), disposable("d"))
        Disposables.create(disposable("a"), disposable("b")).dispose()
        var bag: DisposeBag! = DisposeBag()
        bag.insert(first, second)
        XCTAssertEqual(events, ["a", "b"])
        bag = nil
        XCTAssertEqual(events, ["a", "b", "c", "d"])
        let late = SingleAssignmentDisposable()
        late.dispose()
        late.setDisposable(disposable("late"))
        XCTAssertEqual(events.last, "late")
    }

    func testAsyncInstance() {
        let done = expectation(description: "a turn of the main queue")
        _ = Single.just(1).observe(on: MainScheduler.asyncInstance).subscribe(onSuccess: { _ in
            self.events.append("event")
            done.fulfill()
        })
        events.append("subscribed")
        wait(for: [done], timeout: 10)
        XCTAssertEqual(events, ["subscribed", "event"])
    }

    @available(*, deprecated)  // Without this, the old names would be warnings here.
    func testOldNames() {
        _ = Single<Int>.error(NetworkError.offline)
            .catchError { .error($0) }
            .catchErrorJustReturn(1)
            .subscribeOn(scheduler)
            .observeOn(scheduler)
            .subscribe(onSuccess: { self.events.append("\($0)") }, onError: { _ in self.events.append("error") })
        _ = Single<Int>.error(NetworkError.offline).subscribe(onError: { _ in self.events.append("error") })
        scheduler.run()
        XCTAssertEqual(events, ["error", "1"])
    }
}
