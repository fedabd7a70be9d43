import Dispatch
import MiniRx
import TestSupport
import Testing

// The code of the doc comments and of the first page of MiniRx.

@MainActor private final class Label { var text = "" }

@MainActor
private func show(_ label: Label, _ bag: DisposeBag, _ show: @escaping @MainActor (any Error) -> Void) {
    let number = Single<Int>.create { observer in
        let timer = startTimer { observer(.success(42)) }
        return Disposables.create { timer.cancel() }
    }

    number.map { "\($0)" }
        .observe(on: MainActor.shared)
        .subscribe(onSuccess: { label.text = $0 })
        .disposed(by: bag)

    number.map { "\($0)" }
        .observe(on: MainActor.shared)
        .subscribe(onSuccess: { label.text = $0 }, onFailure: { show($0) })
        .disposed(by: bag)
}

private struct Timer {
    func cancel() {}
}

private func startTimer(_ action: @escaping @Sendable () -> Void) -> Timer { Timer() }

private func retried(_ single: Single<Int>, _ scheduler: TestScheduler) -> Single<Int> {
    single.retry(scheduler: scheduler) { failures, _ in failures < 3 ? .seconds(failures) : nil }
}

@Suite("The examples of MiniRx")
struct MiniRxCommentTests {
    @Test("Virtual time stands still until the test moves it")
    func virtualTime() {
        let log = Log<Result<Int, any Error>>()
        let single = Single.just(1)
        let scheduler = TestScheduler()
        let disposable = single.delay(.seconds(1), scheduler: scheduler).subscribe { log.append($0) }
        scheduler.advance(by: .seconds(1))
        #expect(log.entries.count == 1)
        disposable.dispose()
    }
}
