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
    @Test("The service gives what was found, from whichever provider")
    func answer() async throws {
        let body = Data(
            #"{"total_count": 0, "incomplete_results": false, "items": []}"#.utf8)
        let provider = APIProviderStub(
            response: APIResponse(to: PreparedRequest(.get, GitHub.apiURL), data: body))
        #expect(
            try await RepositoryService(provider: provider).search(keyword: "nothing")
                .value.isEmpty)
    }

    // The page
}
