// Recipe 2: requests that build and parse themselves.
//
// A request has its own `urlRequest()` and its own `decode`, so that both can be tested without any loading: values in, values out. What is
// left, the loading, is one small class for all requests, tested once with a handler that looks at what arrives and answers.
//
// Use it when an API follows no common scheme, when a body is no JSON, or when you bring code over that is built like this. Where path and
// query say it all, let the package build the request: there is less to test.

import APIProvider
import Foundation
import MiniRx
import MockNetwork
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: The app

struct PointOfInterest: Decodable, Equatable {
    let name: String
}

struct PointsOfInterestRequest: APIRequest {
    typealias Response = [PointOfInterest]

    enum InvalidCoordinate: Error { case latitude(Double), longitude(Double) }

    let latitude: Double
    let longitude: Double
    let baseURL = URL(string: "https://example.com")!

    func urlRequest() throws -> URLRequest {
        guard abs(latitude) <= 90 else { throw InvalidCoordinate.latitude(latitude) }
        guard abs(longitude) <= 180 else { throw InvalidCoordinate.longitude(longitude) }
        var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: false)!
        components.path = "/locations"
        components.queryItems = [URLQueryItem(name: "lat", value: "\(latitude)"), URLQueryItem(name: "long", value: "\(longitude)")]
        return URLRequest(url: components.url!)
    }

    func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> [PointOfInterest] {
        try decoder.decode([PointOfInterest].self, from: response.data)
    }
}

final class APIRequestLoader<Request: APIRequest>: Sendable {
    private let provider: any APIProvider

    init(provider: any APIProvider) { self.provider = provider }

    /// Dispose what comes back to cancel.
    @discardableResult
    func load(
        _ request: Request, completionHandler: @escaping @Sendable (Result<Request.Response, any Error>) -> Void
    ) -> any Disposable {
        provider.request(request)
            .subscribe(onSuccess: { completionHandler(.success($0)) }, onFailure: { completionHandler(.failure($0)) })
    }
}

// MARK: Its tests

final class Recipe2RequestsThatBuildAndParseThemselvesTests: XCTestCase {
    private let request = PointsOfInterestRequest(latitude: 37.3293, longitude: -121.8893)

    override func tearDown() {
        MockURLProtocol.reset()
        super.tearDown()
    }

    func testTheRequestIsBuilt() throws {
        let built = try request.urlRequest()
        XCTAssertEqual(built.url?.absoluteString, "https://example.com/locations?lat=37.3293&long=-121.8893")
    }

    func testAPlaceOutsideOfTheEarthIsNotAskedFor() {
        let nowhere = PointsOfInterestRequest(latitude: 91, longitude: 0)
        XCTAssertThrowsError(try nowhere.urlRequest()) { error in
            guard case PointsOfInterestRequest.InvalidCoordinate.latitude(91) = error else { return XCTFail("\(error)") }
        }
    }

    func testTheResponseIsParsed() throws {
        let data = Data(#"[{"name":"MyPointOfInterest"}]"#.utf8)
        let built = try request.urlRequest()
        let head = try XCTUnwrap(HTTPURLResponse(url: request.baseURL, statusCode: 200, httpVersion: nil, headerFields: nil))
        let response = APIResponse(request: built, response: head, data: data)
        XCTAssertEqual(try request.decode(response, using: JSONDecoder()), [PointOfInterest(name: "MyPointOfInterest")])
    }

    func testTheLoaderSendsTheRequestAndGivesWhatItParses() {
        MockURLProtocol.requestHandler = { request in
            XCTAssertEqual(request.url?.query?.contains("lat=37.3293"), true)
            let url = try XCTUnwrap(request.url)
            let response = try XCTUnwrap(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            return (response, Data(#"[{"name":"MyPointOfInterest"}]"#.utf8))
        }
        let loader = APIRequestLoader<PointsOfInterestRequest>(
            provider: DefaultAPIProvider(configuration: MockURLProtocol.configuration))
        let expectation = expectation(description: "a result")

        loader.load(request) { result in
            XCTAssertEqual(try? result.get(), [PointOfInterest(name: "MyPointOfInterest")])
            expectation.fulfill()
        }
        wait(for: [expectation], timeout: 10)
    }
}
