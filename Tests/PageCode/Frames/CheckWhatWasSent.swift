import Testing

private struct RepositoryService: Sendable {
    let provider: any APIProvider

    func search(keyword: String) -> Single<[Repository]> {
        provider.request(SearchRequest(keyword: keyword, page: 1, perPage: 20)).map(\.items)
    }
}

@MainActor
private final class SearchScreen {
    var searchField = ""
    private let controller: RepositorySearchController

    init(provider: any APIProvider) { controller = RepositorySearchController(provider: provider) }

    func searchButtonTapped() { controller.search(searchField) }
}

@Suite("Check what was sent")
struct CheckWhatWasSent {
    // The page
}
