import Dispatch
import MiniRx

private func work(_ value: Int) async throws -> Int { value }

private func moved(_ single: Single<Int>, _ text: String, _ scheduler: TestScheduler, _ latest: SerialDisposable) async throws -> [Any] {
    let singles = [single]
    latest.disposable = single.subscribe { print($0) }
    scheduler.advance(by: .seconds(1))
    scheduler.advance(to: .now())
    scheduler.run()
    Hooks.defaultErrorHandler = { error in print(error) }
    return [
        Single.zip(singles, maxConcurrent: 4),
        try await single.value,
        Single.just(1).delay(.seconds(1), scheduler: scheduler),
        single.flatMap { value in .create { try await work(value) } },
        Single.just(text).delay(.milliseconds(300), scheduler: scheduler).flatMap { .just($0 + "!") },
        Disposables.create {}.isDisposed,
    ]
}

private func using(_ open: @escaping @Sendable () throws -> any Disposable) -> Single<Int> {
    Single.deferred {
        let resource = try open()
        return .just(1).do(onDispose: { resource.dispose() })
    }
}

private func absent<Value: Sendable>(_ type: Value.Type) -> [Any?] {
    let nothing: Single<Void>? = nil
    let missing: Single<Value?>? = nil
    return [nothing, missing]
}

@MainActor
private final class Screen {
    private var items: [Int] = []
    private let bag = DisposeBag()

    func show(_ single: Single<[Int]>) {
        single
            .observe(on: MainActor.shared)  // was: .observe(on: MainScheduler.instance)
            .subscribe(onSuccess: { self.items = $0 })
            .disposed(by: bag)
    }
}
