import APIProvider
import Foundation
import Observation

@MainActor @Observable
final class SearchModel {
    private(set) var repositories: [Repository] = []
    private(set) var message: String?
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) {
        self.provider = provider
    }

    deinit {
        latest.dispose()
    }

    func search(for keyword: String) {
        latest.disposable = provider.request(SearchRequest(keyword: keyword))
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { model, response in model.repositories = response.items },
                onFailure: { model, error in model.message = error.localizedDescription })
    }
}
