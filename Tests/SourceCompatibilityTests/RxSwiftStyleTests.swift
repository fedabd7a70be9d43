// Code written for RxSwift's `Single`, in the Swift 5 language mode. Only the import has changed. It compiles without warnings, with the file
// RxSwiftNames.swift beside it, and works as it did.

import Dispatch
import MiniRx
import XCTest

private class Cache {
    var values: [String: Int] = [:]
}

private enum NetworkError: Error { case offline }

private class SearchViewModel {
    let disposeBag = DisposeBag()
    let cache = Cache()
    var results: [Int] = []
    var message: String?
    var isLoading = false

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
            .observe(on: MainScheduler.instance)
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

private final class Presenter: @unchecked Sendable {
    var shown: [String] = []
    func show(_ text: String) { shown.append(text) }
}

final class RxSwiftStyleTests: XCTestCase {
    func testAViewModelWithWeakSelf() {
        let viewModel = SearchViewModel()
        viewModel.cache.values["swift"] = 3
        viewModel.search("swift")
        viewModel.search("nothing")
        let done = expectation(description: "the main queue has run")
        DispatchQueue.main.async { done.fulfill() }
        wait(for: [done], timeout: 10)
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
        .do(
            onSuccess: { events.append("success \($0)") }, onError: { _ in events.append("error") },
            onSubscribe: { events.append("subscribe") }, onDispose: { events.append("do disposed") }
        )
        .map { $0 * 2 }
        .flatMap { value -> Single<String> in
            cache.values["key"] = value
            return .just("value \(value)")
        }
        .catchAndReturn("nothing")
        .subscribe { event in
            switch event {
            case .success(let text): events.append(text)
            case .failure(let error): events.append("\(error)")
            }
        }
        .disposed(by: disposeBag)

        XCTAssertEqual(
            events, ["subscribe", "disposed", "disposed", "success 3", "disposed", "do disposed", "value 6"])
        XCTAssertEqual(cache.values["key"], 6)
    }

    func testZipTimeoutAndCatch() {
        let disposeBag = DisposeBag()
        let scheduler: SchedulerType = SerialDispatchQueueScheduler(qos: .userInitiated)
        let interval: RxTimeInterval = .seconds(5)
        let done = expectation(description: "an event")
        var text = ""

        Single.zip(Single.just(1), Single.just("a")) { number, letter in "\(letter)\(number)" }
            .subscribe(on: ConcurrentDispatchQueueScheduler(qos: .background))
            .timeout(interval, scheduler: scheduler)
            .catch { error in
                .error(error)
            }
            .observe(on: MainScheduler.instance)
            .subscribe(onSuccess: {
                text = $0
                done.fulfill()
            })
            .disposed(by: disposeBag)
        wait(for: [done], timeout: 10)
        XCTAssertEqual(text, "a1")
    }

    func testSubscribeWithAnObject() {
        let presenter = Presenter()
        let serial = SerialDisposable()
        serial.disposable = Single.just(7)
            .delay(.milliseconds(0), scheduler: MainScheduler.instance)
            .subscribe(
                with: presenter, onSuccess: { $0.show("value \($1)") }, onFailure: { $0.show("\($1)") },
                onDisposed: { $0.show("disposed") })
        let done = expectation(description: "the main queue has run")
        DispatchQueue.main.async { done.fulfill() }
        wait(for: [done], timeout: 10)
        XCTAssertEqual(presenter.shown, ["value 7", "disposed"])
    }

    func testDeferredAndNever() {
        var count = 0
        let single = Single<Int>.deferred {
            count += 1
            return count > 1 ? .just(count) : .error(NetworkError.offline)
        }
        var failures = 0
        _ = single.subscribe(onFailure: { _ in failures += 1 })
        _ = single.subscribe(onSuccess: { XCTAssertEqual($0, 2) })
        let disposable: Disposable = Single<Int>.never().subscribe()
        disposable.dispose()
        XCTAssertEqual(failures, 1)
    }
}
