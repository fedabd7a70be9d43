// expect: nothing
import MiniRx

@MainActor final class Screen {
    private let bag = DisposeBag()
    private var titles: [String] = []
    private var isLoading = false

    func load(_ single: Single<String>) {
        isLoading = true
        single.observe(on: MainActor.shared)
            .subscribe(
                onSuccess: { self.titles.append($0) }, onFailure: { _ in self.titles = [] }, onDisposed: { self.isLoading = false }
            )
            .disposed(by: bag)
        single.observe(on: MainActor.shared)
            .subscribe(with: self, onSuccess: { screen, title in screen.titles.append(title) })
            .disposed(by: bag)
        single.observe(on: MainActor.shared)
            .subscribe { [weak self] event in self?.titles.append("\(event)") }
            .disposed(by: bag)
    }
}
