// The code of the README and of "Test your networking in five minutes".

import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing
import XCTest

private struct SearchResponse: Codable {
    struct Repository: Codable { let name: String }
    let items: [Repository]
}

private struct SearchRequest: APIRequest {
    let keyword: String
    var endpoint: Endpoint<SearchResponse> { Endpoint(.get, "/search/repositories", query: ["q": keyword]) }
}

@MainActor
private final class SearchModel {
    private(set) var items: [SearchResponse.Repository] = []
    private(set) var message: String?
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) { self.provider = provider }

    deinit { latest.dispose() }

    func search(_ keyword: String) {
        latest.disposable = provider.request(SearchRequest(keyword: keyword))
            .observe(on: MainActor.shared)
            .subscribe(
                with: self, onSuccess: { $0.items = $1.items },
                onFailure: { $0.message = $1.localizedDescription })
    }
}

private let api = URL(string: "https://api.github.com")!
private let gitHub = DefaultAPIProvider(baseURL: api, middlewares: [RetryMiddleware()])

private enum Fixture: String, MockDTO {
    case search = "Search"  // Fixtures/Search.json
    static let bundle = Bundle.module
}

@Test(.mockNetwork) func search() async throws {
    MockURLProtocol.responseWithDTO(type: Fixture.search)
    let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.github.com"), configuration: MockURLProtocol.configuration)

    let response = try await provider.request(SearchRequest(keyword: "swift")).value

    #expect(response.items.map(\.name) == ["swift", "swift-nio"])
    #expect(MockURLProtocol.requests.first?.queryItems == [URLQueryItem(name: "q", value: "swift")])
}

@Test(.mockNetwork) func aServerThatIsBusyIsAskedAgain() async throws {
    MockURLProtocol.stub(SearchRequest(keyword: "swift"), respond: .sequence([.status(503), .fixture(Fixture.search)]))
    let provider = DefaultAPIProvider(
        baseURL: URL(string: "https://api.github.com"), configuration: MockURLProtocol.configuration,
        middlewares: [RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1)))])

    let response = try await provider.request(SearchRequest(keyword: "swift")).value

    #expect(response.items.count == 2)
}

final class SearchTests: XCTestCase {
    override func tearDown() { MockURLProtocol.reset() }

    func testSearch() {
        MockURLProtocol.responseWithDTO(type: Fixture.search)
        MockURLProtocol.responseWithStatusCode(code: 200)
        let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.github.com"), configuration: MockURLProtocol.configuration)
        let bag = DisposeBag()
        let expectation = expectation(description: "an event")

        provider.request(SearchRequest(keyword: "swift"))
            .subscribe { event in
                switch event {
                case .success(let response): XCTAssertEqual(response.items.count, 2)
                case .failure(let error): XCTFail("\(error)")
                }
                expectation.fulfill()
            }
            .disposed(by: bag)
        wait(for: [expectation], timeout: 10)
    }
}

@Test("The README's model shows what was found, and the sentence of an error", .mockNetwork, tenMinutes)
@MainActor
func model() async throws {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .sequence([.fixture(Fixture.search), .status(500)]))
    let model = SearchModel(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))
    model.search("swift")
    await eventually { !model.items.isEmpty }
    #expect(model.items.map(\.name) == ["swift", "swift-nio"])
    model.search("swift")
    await eventually { model.message != nil }
    #expect(model.message?.contains("500 Internal Server Error") == true)
}
