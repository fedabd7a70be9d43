import XCTest

nonisolated private let json = #"{"id": 48, "name": "Siberian Tiger", "latinName": "Panthera tigris altaica"}"#

nonisolated final class ThreeOlderIdioms: XCTestCase {
    nonisolated struct PointOfInterest: Decodable, Equatable { let name: String }

    nonisolated struct Animal: Decodable {
        let id: Int
        let name: String
        let latinName: String
    }

    enum AnimalError: Error { case unknownError }

    private var provider: DefaultAPIProvider!
    private var disposeBag: DisposeBag!
    private let request = PointsOfInterestRequest(latitude: 37.3293, longitude: -121.8893)
    private let baseURL = URL(string: "https://example.com")!

    /// `nil` if nothing has come by the time that `animal` returns.
    private func outcome(of transport: ClosureTransport) -> Result<Animal, AnimalError>? {
        let results = Log<Result<Animal, AnimalError>>()
        AnimalService(transport: transport).animal { results.append($0) }
        return results.entries.first
    }

    func testA404IsAFailure() {
        MockURLProtocol.responseWithStatusCode(code: 404)
        let expectation = expectation(description: "an event")

        provider.request(UserRequest(login: "nobody"))
            .subscribe { event in
                switch event {
                case .success(let user): XCTFail("\(user)")
                case .failure(let error):
                    XCTAssertEqual((error as? APIError)?.statusCode, 404)
                }
                expectation.fulfill()
            }
            .disposed(by: disposeBag)
        wait(for: [expectation], timeout: 10)
    }

    func testTheRequestIsBuilt() throws {
        let built = try request.endpoint.preparedRequest(relativeTo: baseURL)
        XCTAssertEqual(
            built.url.absoluteString,
            "https://example.com/locations?lat=37.3293&long=-121.8893")
    }

    func testTheResponseIsParsed() throws {
        let data = Data(#"[{"name":"MyPointOfInterest"}]"#.utf8)
        let response = APIResponse(to: PreparedRequest(.get, baseURL), data: data)
        XCTAssertEqual(
            try request.endpoint.value(of: response),
            [PointOfInterest(name: "MyPointOfInterest")])
    }

    // The page
}
