// Recipe 4: what was asked for.
//
// Here the answer does not matter: the test looks at the request. `MockURLProtocol.requests` has each one whole, as it would have gone out.
// One step further up, a stub of the `APIProvider` protocol notes the typed request itself, and no HTTP is left in the test.
//
// Use the first for services, and the second for what stands above them: view-models and screens. When a wrong request should have no
// answer, say so in a stub of its own (recipe 5) and let the mock explain what differs.

import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import Testing

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
        let service = RepositoryService(provider: DefaultAPIProvider(configuration: MockURLProtocol.configuration))
        _ = try await service.search(keyword: "swift & rx").value

        #expect(MockURLProtocol.requests.count == 1)
        let request = try #require(MockURLProtocol.requests.first)
        #expect(request.method == .get)
        #expect(request.url.absoluteString == "https://api.github.com/search/repositories?q=swift%20%26%20rx&page=1&per_page=20")
        #expect(request.path == "/search/repositories")
        #expect(request.queryItems.first { $0.name == "q" }?.value == "swift & rx")
        #expect(request.headers["Accept"] == "application/vnd.github+json")
        #expect(request.body.isEmpty)
    }

    @Test("The search button sends the text of the search field")
    @MainActor
    func button() throws {
        let provider = APIProviderStub()
        let screen = SearchScreen(provider: provider)
        screen.searchField = "ReactorKit"
        screen.searchButtonTapped()

        #expect(provider.requests.count == 1)
        let request = try #require(provider.requests.first).urlRequest()
        #expect(request.url?.query?.contains("q=ReactorKit") == true)
    }
}

/// Notes what it is asked for, and never answers.
private final class APIProviderStub: APIProvider, @unchecked Sendable {  // The lock guards the array.
    private let lock = NSLock()
    private var asked: [any APIRequest] = []

    var requests: [any APIRequest] { lock.withLock { asked } }

    func request<Request: APIRequest>(_ request: Request) -> Single<Request.Response> {
        lock.withLock { asked.append(request) }
        return .never()
    }
}
