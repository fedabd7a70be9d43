import APIProvider
import Foundation
import GitHubAPI
import MiniRx

private func page(_ provider: DefaultAPIProvider) -> Single<GitHubPage<[Repository]>> {
    provider.request(StarredRequest(login: "octocat").endpoint.page)
}

@MainActor
private final class Screen {
    func show(_ state: RepositorySearchController.State) {}

    func search() {
        let controller = RepositorySearchController(provider: DefaultAPIProvider(baseURL: GitHub.apiURL))
        controller.onChange = { [weak self] state in self?.show(state) }
        controller.search("swift")  // from the search field
        controller.loadNextPage()  // at the end of the list
    }
}
