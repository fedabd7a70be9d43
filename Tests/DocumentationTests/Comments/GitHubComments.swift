import APIProvider
import Foundation
import GitHubAPI
import MiniRx

// The code of the doc comments of GitHubAPI.

private func page(_ provider: DefaultAPIProvider) -> Single<GitHubPage<[Repository]>> {
    provider.request(StarredRequest(login: "octocat").endpoint.page)
}

private func pages(_ provider: DefaultAPIProvider) -> Single<[Repository]> {
    provider.pages(StarredRequest(login: "octocat")).all(\.self, maxPages: 10)
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
