import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
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

@Suite("Recipe 4: What was asked for")
struct WhatWasAskedForTests {
    @Test("The service asks for the keyword, with one request", .mockNetwork)
    func request() async throws {
        MockURLProtocol.responseWithDTO(type: .search)
        let service = RepositoryService(
            provider: DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration))
        _ = try await service.search(keyword: "swift & rx").value

        #expect(MockURLProtocol.requests.count == 1)
        let request = try #require(MockURLProtocol.requests.first)
        #expect(request.method == .get)
        #expect(request.url.query == "q=swift%20%26%20rx&page=1&per_page=20")
        #expect(request.path == "/search/repositories")
        #expect(request.queryItems.first { $0.name == "q" }?.value == "swift & rx")
        #expect(request.headers["Accept"] == "application/vnd.github+json")
        #expect(request.body.isEmpty)
    }

    @Test("The search button sends the text of the search field")
    @MainActor
    func button() throws {
        let provider = APIProviderSpy()
        let screen = SearchScreen(provider: provider)
        screen.searchField = "ReactorKit"
        screen.searchButtonTapped()

        #expect(provider.requests.count == 1)
        let request = try #require(provider.requests.first)
        #expect(request.url.query?.contains("q=ReactorKit") == true)
    }

    @Test("The service gives what was found, from whichever provider")
    func answer() async throws {
        let body = Data(#"{"total_count": 0, "incomplete_results": false, "items": []}"#.utf8)
        let provider = APIProviderStub(response: APIResponse(to: PreparedRequest(.get, GitHub.apiURL), data: body))
        #expect(try await RepositoryService(provider: provider).search(keyword: "nothing").value.isEmpty)
    }
}

private struct APIProviderStub: APIProvider {
    let response: APIResponse
    func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred { .just(try request.endpoint.value(of: response)) }
    }
}

private final class APIProviderSpy: APIProvider, @unchecked Sendable {  // The lock guards the array.
    private let lock = NSLock()
    private var sent: [PreparedRequest] = []

    var requests: [PreparedRequest] { lock.withLock { sent } }

    func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred {
            let built = try request.endpoint.preparedRequest(relativeTo: GitHub.apiURL)
            self.lock.withLock { self.sent.append(built) }
            return .never()
        }
    }
}
