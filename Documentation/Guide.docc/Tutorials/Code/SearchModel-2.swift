import APIProvider
import Foundation
import Observation

@MainActor @Observable
final class SearchModel {
    private(set) var repositories: [Repository] = []
    private(set) var message: String?
    private let provider: any APIProvider
    private let bag = DisposeBag()

    init(provider: any APIProvider) {
        self.provider = provider
    }

    func search(for keyword: String) {
        provider.request(SearchRequest(keyword: keyword))
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { model, response in model.repositories = response.items },
                onFailure: { model, error in model.message = error.localizedDescription })
            .disposed(by: bag)
    }
}
