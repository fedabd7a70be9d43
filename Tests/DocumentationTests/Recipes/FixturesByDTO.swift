// Recipe 1: fixtures by DTO.
//
// One enum names the JSON files that are bundled with the tests. A test picks one and a status, and runs the whole stack on it: building,
// sending, validating, decoding. Use it when what matters is that real answers are read right. When the answer has to depend on the request,
// use a `requestHandler`; when the test is not about HTTP at all, put a closure in place of the network: `ClosureTransport`.
//
// An XCTestCase runs its tests one after the other, so they may share the process-wide mock. With Swift Testing, write `@Test(.mockNetwork)`.

import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class Recipe1FixturesByDTOTests: XCTestCase {
    private var provider: DefaultAPIProvider!
    private var disposeBag: DisposeBag!

    override func setUp() {
        super.setUp()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MockURLProtocol.self]
        provider = DefaultAPIProvider(baseURL: GitHub.apiURL, session: URLSession(configuration: configuration))
        disposeBag = DisposeBag()
    }

    override func tearDown() {
        MockURLProtocol.reset()
        provider = nil
        disposeBag = nil
        super.tearDown()
    }

    func testSearchGivesTheRepositoriesOfTheFixture() {
        MockURLProtocol.responseWithDTO(type: .search)
        MockURLProtocol.responseWithStatusCode(code: 200)
        let expectation = expectation(description: "an event")

        provider.request(SearchRequest(keyword: "ReactorKit", page: 1, perPage: 30))
            .subscribe { event in
                switch event {
                case .success(let response):
                    XCTAssertEqual(response.items.count, 8)
                    XCTAssertEqual(response.items.first?.name, "ACNH-wiki")
                    XCTAssertEqual(response.items.first?.owner.login, "leeari95")
                case .failure(let error):
                    XCTFail("\(error)")
                }
                expectation.fulfill()
            }
            .disposed(by: disposeBag)
        wait(for: [expectation], timeout: 10)
    }

    func testA404IsAFailure() {
        MockURLProtocol.responseWithStatusCode(code: 404)
        let expectation = expectation(description: "an event")

        provider.request(UserRequest(login: "nobody"))
            .subscribe { event in
                switch event {
                case .success(let user): XCTFail("\(user)")
                case .failure(let error): XCTAssertEqual((error as? APIError)?.statusCode, 404)
                }
                expectation.fulfill()
            }
            .disposed(by: disposeBag)
        wait(for: [expectation], timeout: 10)
    }

    func testAFailureIsAFailure() {
        MockURLProtocol.responseWithFailure(URLError(.notConnectedToInternet))
        let expectation = expectation(description: "an event")

        provider.request(UserRequest())
            .subscribe(
                onSuccess: { XCTFail("\($0)") },
                onFailure: { error in
                    XCTAssertEqual((error as? APIError)?.urlError?.code, .notConnectedToInternet)
                    expectation.fulfill()
                }
            )
            .disposed(by: disposeBag)
        wait(for: [expectation], timeout: 10)
    }

    func testEachOAuthErrorIsAFailureThoughItsStatusIs200() {
        let errors: [(MockURLProtocol.MockDTOType, GitHubOAuthError.Code)] = [
            (.oauthBadRequest, .badVerificationCode),
            (.oauthRedirectURLMismatch, .redirectURIMismatch),
            (.oauthIncorrectClientCredentials, .incorrectClientCredentials),
        ]
        for (type, code) in errors {
            MockURLProtocol.responseWithDTO(type: type)
            MockURLProtocol.responseWithStatusCode(code: 200)
            let expectation = expectation(description: "\(type)")

            provider.request(AccessTokenRequest(clientID: "id", clientSecret: "secret", code: "code"))
                .subscribe(
                    onSuccess: { XCTFail("\($0)") },
                    onFailure: { error in
                        XCTAssertEqual((error as? GitHubOAuthError)?.code, code)
                        expectation.fulfill()
                    }
                )
                .disposed(by: disposeBag)
            wait(for: [expectation], timeout: 10)
        }
    }

    func testAnEmptyBodyIsNoUser() {
        MockURLProtocol.responseWithDTO(type: .empty)
        let expectation = expectation(description: "an event")

        provider.request(UserRequest())
            .subscribe(
                onSuccess: { XCTFail("\($0)") },
                onFailure: { error in
                    XCTAssertEqual(
                        "\(error)", "GET https://api.github.com/user returned 200, but the body is empty where User was expected (0 bytes)."
                    )
                    expectation.fulfill()
                }
            )
            .disposed(by: disposeBag)
        wait(for: [expectation], timeout: 10)
    }
}
