import Dispatch
import MiniRx
import TestSupport

@MainActor
private func show(_ bag: DisposeBag, _ show: @escaping @MainActor (any Error) -> Void) {
    final class Label { var text = "" }
    struct Timer { func cancel() {} }
    @Sendable func startTimer(_ action: @escaping @Sendable () -> Void) -> Timer { Timer() }
    let label = Label()
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

private func retried(_ single: Single<Int>, _ scheduler: TestScheduler) -> Single<Int> {
    single.retry(scheduler: scheduler) { failures, _ in failures < 3 ? .seconds(failures) : nil }
}

private func inVirtualTime(_ single: Single<Int>, _ log: Log<SingleEvent<Int>>) -> any Disposable {
    let scheduler = TestScheduler()
    let disposable = single.delay(.seconds(1), scheduler: scheduler).subscribe { log.append($0) }
    scheduler.advance(by: .seconds(1))
    return disposable
}
