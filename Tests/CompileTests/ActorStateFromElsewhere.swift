// expect: warning: call to main actor-isolated instance method 'show' in a synchronous nonisolated context
import MiniRx

@MainActor final class Screen {
    private let bag = DisposeBag()
    func show(_ title: String) {}

    func load(_ single: Single<String>) {
        single.subscribe(onSuccess: { self.show($0) }).disposed(by: bag)
    }
}
