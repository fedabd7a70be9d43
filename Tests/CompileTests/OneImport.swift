// flags: -swift-version 6 -enable-upcoming-feature MemberImportVisibility
// flags: -swift-version 5 -enable-upcoming-feature MemberImportVisibility
// Members need the import of their module in new projects. APIProvider brings those of MiniRx along, and MiniRx stands alone.
import APIProvider

func value(_ provider: any APIProvider, _ request: Endpoint<String>) async throws -> Int {
    let bag = DisposeBag()
    provider.request(request).observe(on: MainScheduler.instance).subscribe().disposed(by: bag)
    return try await provider.request(request).map(\.count).value
}
