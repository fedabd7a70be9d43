import MiniRx

class Cache { var values: [Int] = [] }

func subscriptions(_ single: Single<Int>, _ cache: Cache) -> [Any] {
    var count = 0
    single.subscribe { print($0) }  // warning: result of call to 'subscribe' is unused
    return [
        single.subscribe(onSuccess: { _ in count += 1 }),  // warning: mutation of captured var 'count' in concurrently-executing code
        // warning: capture of 'cache' with non-Sendable type 'Cache' in a '@Sendable' closure
        single.do(onSuccess: { cache.values.append($0) }),
    ]
}

@MainActor final class Screen {
    private let bag = DisposeBag()
    var items: [String] = []
    func show(_ item: String) {}

    func load(_ single: Single<String>) {
        // warning: call to main actor-isolated instance method 'show' in a synchronous nonisolated context
        single.subscribe(onSuccess: { self.show($0) }).disposed(by: bag)
        // warning: main actor-isolated property 'items' can not be mutated from a Sendable closure
        single.subscribe(onSuccess: { self.items = [$0] }).disposed(by: bag)
        single.observe(on: MainActor.shared)
            .subscribe(onSuccess: { self.items.append($0) }, onFailure: { _ in self.items = [] }, onDisposed: { self.items = [] })
            .disposed(by: bag)
        single.observe(on: MainActor.shared)
            .subscribe(with: self, onSuccess: { screen, item in screen.items.append(item) })
            .disposed(by: bag)
        single.observe(on: MainActor.shared)
            .subscribe { [weak self] event in self?.items.append("\(event)") }
            .disposed(by: bag)
    }
}

func names(_ single: Single<[String]>, prefix: String) async throws -> [String] {
    let scheduler: any Scheduler = MainScheduler.instance
    return try await Single.zip(single, .just(1)) { names, count in names.prefix(count) }
        .map { names in names.map { prefix + $0 } }
        .retry(3)
        .observe(on: scheduler)
        .value
}
