// flags: -swift-version 6
// flags: -swift-version 5 -default-isolation MainActor -enable-upcoming-feature MemberImportVisibility
// The same without a change in the file's own code: the names of the app's module come before those of both.
import APIProvider
import RxSwift

typealias Single = RxSwift.Single
typealias DisposeBag = RxSwift.DisposeBag

final class Old {
    private let bag = DisposeBag()

    func number() -> Single<Int> { .just(1) }

    func login(_ provider: any APIProvider, _ request: Endpoint<String>) -> MiniRx.Single<Int> { provider.request(request).map(\.count) }
}
