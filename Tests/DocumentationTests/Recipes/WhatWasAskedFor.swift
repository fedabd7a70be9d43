// Recipe 4: what was asked for.
//
// Here the test looks at the request, and not at the answer. `MockURLProtocol.requests` has each request whole, as it would have gone out. One
// step further up, a stub of the `APIProvider` protocol takes the place of all loading.
//
// Use the first for services, and the second for what stands above them: view-models and screens. When a wrong request should have no
// answer, write a stub for it (recipe 5) and let the mock explain what differs.

import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: The app

struct RepositoryService: Sendable {
    let provider: any APIProvider

    func search(keyword: String) -> Single<[Repository]> {
        provider.request(SearchRequest(keyword: keyword, page: 1, perPage: 20)).map(\.items)
    }
}

/// A screen without its views: what they would call, and what they would show.
@MainActor
final class SearchScreen {
    var searchField = ""
    private(set) var titles: [String] = []
    private let controller: RepositorySearchController

    init(provider: any APIProvider) {
        controller = RepositorySearchController(provider: provider)
        controller.onChange = { [weak self] state in self?.titles = state.repositories.map(\.name) }
    }

    func searchButtonTapped() { controller.search(searchField) }
}

// MARK: Its tests

@Suite("Recipe 4: what was asked for")
struct Recipe4WhatWasAskedForTests {
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

/// Answers every request with one response, downloads included.
private struct APIProviderStub: APIProvider {
    let response: APIResponse
    func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred { .just(try request.endpoint.value(of: response)) }
    }
}

/// Keeps what it is asked for, and never answers.
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
