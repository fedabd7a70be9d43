// The code of the README and of "Test your networking in five minutes", as it stands there.

import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing
import XCTest

struct SearchResponse: Codable {
    struct Repository: Codable { let name: String }
    let items: [Repository]
}

struct SearchRequest: APIRequest {
    let keyword: String
    var endpoint: Endpoint<SearchResponse> { Endpoint(.get, "/search/repositories", query: ["q": keyword]) }
}

@MainActor
final class SearchModel {
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

let api = URL(string: "https://api.github.com")!
let gitHub = DefaultAPIProvider(baseURL: api, middlewares: [RetryMiddleware()])

struct Issue: Codable { let title: String }

extension APIRequest where Self == Endpoint<Issue> {
    static func createIssue(_ issue: Issue, in repository: String, of owner: String) -> Self {
        Endpoint(.post, "/repos/\(owner)/\(repository)/issues", body: .json(issue))
    }
}

struct RefreshRequest: APIRequest {
    struct Response: Decodable { let accessToken: String }
    var endpoint: Endpoint<Response> { Endpoint(.post, "/token") }
}

func makeProvider(baseURL: URL, login: DefaultAPIProvider) -> DefaultAPIProvider {
    let provider = DefaultAPIProvider(
        baseURL: baseURL,
        middlewares: [
            DefaultHeadersMiddleware(["Accept-Language": "en"]),
            RetryMiddleware(),
            AuthenticationMiddleware { _ in login.request(RefreshRequest()).map(\.accessToken) },
            LoggingMiddleware(),
        ])
    return provider
}

enum Fixture: String, MockDTO {
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

@Suite("The README", tenMinutes)
struct ReadmeTests {
    @Test("A request that sends something is sent with its body", .mockNetwork)
    func body() async throws {
        MockURLProtocol.stub(
            .post, "/repos/apple/swift/issues", body: .json(["title": "Crash"]), respond: .json(["title": "Crash"], status: 201))
        let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
        let issue = try await provider.request(.createIssue(Issue(title: "Crash"), in: "swift", of: "apple")).value
        #expect(issue.title == "Crash")
    }

    @Test("A screen shows what was found, and an error in a sentence", .mockNetwork)
    @MainActor
    func model() async throws {
        MockURLProtocol.stub(.get, "/search/repositories", respond: .sequence([.fixture(Fixture.search), .status(500)]))
        let model = SearchModel(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))
        model.search("swift")
        while model.items.isEmpty { await Task.yield() }
        #expect(model.items.map(\.name) == ["swift", "swift-nio"])
        model.search("swift")
        while model.message == nil { await Task.yield() }
        #expect(model.message == "GET https://api.example.com/search/repositories?q=… failed: 500 Internal Server Error.")
    }
}
