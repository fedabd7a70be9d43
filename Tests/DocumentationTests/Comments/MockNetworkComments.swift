import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing
import XCTest

private let api = example
private struct Order: Codable, Equatable {}
private final class InThisBundle {}

private enum AppFixture: String, MockDTO {
    case search = "Search"
    static let bundle = Bundle(for: InThisBundle.self)
}

private enum Fixture: String, MockDTO {
    case user = "User"  // User.json
    static let bundle = Bundle.module
}

extension Fixture {
    static let search = MockURLProtocol.MockDTOType.search
    static let repository = MockURLProtocol.MockDTOType.search
}

@Suite("The tests on the pages of MockNetwork")
struct MockNetworkCommentTests {
    @Test(.mockNetwork) func search() async throws {
        MockURLProtocol.responseWithDTO(type: Fixture.search)
        let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
        let response = try await provider.request(SearchRequest(keyword: "swift")).value
        #expect(response.items.count == 8)
    }

    @Test(.mockNetwork) func starring() async throws {
        MockURLProtocol.stub(StarRequest(owner: "apple", name: "swift"), respond: .status(204))
        let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
        try await provider.request(StarRequest(owner: "apple", name: "swift")).value
        #expect(MockURLProtocol.requests.count == 1)
    }
}

@Suite("The test on the page of recordings")
struct RecordedTests {
    @Test(.mockNetwork(recording: "search")) func search() async throws {
        let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
        let result = try await provider.request(SearchRequest(keyword: "swift", perPage: 2)).value
        #expect(result.items.count == 2)
    }

    func testSearch() async throws {
        try await MockURLProtocol.withRecording("search") {
            let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
            let result = try await provider.request(SearchRequest(keyword: "swift", perPage: 2)).value
            XCTAssertEqual(result.items.count, 2)
        }
    }

    private func options() -> [any TestTrait] {
        [.mockNetwork(recording: "page", keeping: ["text/html", "X-Customer"], ignoring: ["sent_at"])]
    }
}

private func stubs(_ order: Order) throws {
    MockURLProtocol.stub(.get, "/repos/*/*", respond: .fixture(Fixture.repository))
    MockURLProtocol.stub(.post, "https://api.example.com/orders", body: .json(order), times: 1, respond: .status(201))

    MockURLProtocol.stub(SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
    MockURLProtocol.stub(UserRequest(login: "nobody"), times: 1, respond: .status(404))

    MockURLProtocol.stub(.get, "/user", respond: .json(["login": "octocat"]))
    MockURLProtocol.stub(.post, "/orders", respond: .sequence([.status(503), .status(201)]))
    MockURLProtocol.stub(.get, "/slow", respond: .status(200).delayed(by: 2))

    MockURLProtocol.stub(.get, "/user", respond: .json(text: #"{"login": "octocat", "id": 1}"#))

    let stub = MockURLProtocol.stub(.post, "/orders", respond: .status(201))

    #expect(try stub.requests.first?.json(Order.self) == order)
}

private func oneAnswer() -> DefaultAPIProvider {
    MockURLProtocol.responseWithDTO(type: Fixture.search)
    MockURLProtocol.responseWithStatusCode(code: 200)
    let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    return provider
}

private func withoutASession() -> DefaultAPIProvider {
    MockURLProtocol.stub(UserRequest(), respond: .fixture(Fixture.user))
    let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
    return provider
}

private func callback(_ provider: DefaultAPIProvider, _ request: UserRequest, _ bag: DisposeBag) {
    let mock = MockURLProtocol.current
    provider.request(request).subscribe { _ in print(mock.requests) }.disposed(by: bag)
}

private func virtualTime(_ log: Log<SingleEvent<User>>, _ bag: DisposeBag) {
    let scheduler = TestScheduler()
    let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport(scheduler: scheduler))
    provider.request(UserRequest()).subscribe { log.append($0) }.disposed(by: bag)
    scheduler.advance(by: .seconds(60))
}

private class VerifyingTests: XCTestCase {
    override func tearDown() {
        XCTAssertNoThrow(try MockURLProtocol.verify())  // XCTest shows this line
        MockURLProtocol.reset()
    }
}
