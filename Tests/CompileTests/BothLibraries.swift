// flags: -swift-version 6
// flags: -swift-version 5 -default-isolation MainActor -enable-upcoming-feature MemberImportVisibility
// A file that sends requests, in an app that keeps RxSwift beside them.
import APIProvider
import RxSwift

final class Old {
    private let bag = DisposeBag()  // error: ambiguous use of 'init()'

    func number() -> Single<Int> { .just(1) }  // error: 'Single' is ambiguous for type lookup in this context
}

#if compiler(>=6.3)
func number(_ provider: any APIProvider, _ request: Endpoint<Int>) -> MiniRx::Single<Int> { provider.request(request) }
#endif

final class New {
    private let bag = MiniRx.DisposeBag()
    private let old = RxSwift.DisposeBag()

    func login(_ provider: any APIProvider, _ request: Endpoint<String>) -> MiniRx.Single<Int> {
        RxSwift.Single.just(1).map { $0 + 1 }.disposed(by: old)
        return provider.request(request).map(\.count)
    }
}
