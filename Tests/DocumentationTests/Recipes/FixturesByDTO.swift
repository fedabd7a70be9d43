import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import TestSupport
import XCTest

final class FixturesByDTOTests: XCTestCase {
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
}
