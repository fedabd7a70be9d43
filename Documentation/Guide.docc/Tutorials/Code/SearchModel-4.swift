import APIProvider
import Foundation
import Observation

@MainActor @Observable
final class SearchModel {
    private(set) var repositories: [Repository] = []
    private(set) var message: String?
    private(set) var isLoading = false
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) {
        self.provider = provider
    }

    deinit {
        latest.dispose()
    }

    func search(for keyword: String) {
        isLoading = true
        latest.disposable = provider.request(SearchRequest(keyword: keyword))
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { model, response in model.show(response.items, nil) },
                onFailure: { model, error in model.show([], error.localizedDescription) })
    }

    private func show(_ repositories: [Repository], _ message: String?) {
        self.repositories = repositories
        self.message = message
        isLoading = false
    }
}
