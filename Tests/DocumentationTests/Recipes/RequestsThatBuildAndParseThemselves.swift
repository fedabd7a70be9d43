// Recipe 2: requests that build and parse themselves.
//
// An endpoint is a value. What it sends and how it reads a response can be tested without any loading: values in, values out. What is left,
// the loading, is one small class for all requests. It is tested once, with a handler that looks at what arrives and answers.
//
// Use it when a request is more than a path and a query: when it checks its input, or reads a response in its own way.

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
    enum InvalidCoordinate: Error { case latitude(Double), longitude(Double) }

    let latitude: Double
    let longitude: Double

    var endpoint: Endpoint<[PointOfInterest]> {
        Endpoint(.get, "/locations", query: ["lat": latitude, "long": longitude]).adapting { _ in
            guard abs(latitude) <= 90 else { throw InvalidCoordinate.latitude(latitude) }
            guard abs(longitude) <= 180 else { throw InvalidCoordinate.longitude(longitude) }
        }
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
    private let baseURL = URL(string: "https://example.com")!

    override func tearDown() {
        MockURLProtocol.reset()
        super.tearDown()
    }

    func testTheRequestIsBuilt() throws {
        let built = try request.endpoint.preparedRequest(relativeTo: baseURL)
        XCTAssertEqual(built.url.absoluteString, "https://example.com/locations?lat=37.3293&long=-121.8893")
    }

    func testAPlaceOutsideOfTheEarthIsNotAskedFor() {
        let nowhere = PointsOfInterestRequest(latitude: 91, longitude: 0)
        XCTAssertThrowsError(try nowhere.endpoint.preparedRequest(relativeTo: baseURL)) { error in
            guard case PointsOfInterestRequest.InvalidCoordinate.latitude(91) = error else { return XCTFail("\(error)") }
        }
    }

    func testTheResponseIsParsed() throws {
        let data = Data(#"[{"name":"MyPointOfInterest"}]"#.utf8)
        let response = APIResponse(to: PreparedRequest(.get, baseURL), data: data)
        XCTAssertEqual(try request.endpoint.value(of: response), [PointOfInterest(name: "MyPointOfInterest")])
    }

    func testTheLoaderSendsTheRequestAndGivesWhatItParses() {
        MockURLProtocol.requestHandler = { request in
            XCTAssertEqual(request.url?.query?.contains("lat=37.3293"), true)
            let url = try XCTUnwrap(request.url)
            let response = try XCTUnwrap(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            return (response, Data(#"[{"name":"MyPointOfInterest"}]"#.utf8))
        }
        let loader = APIRequestLoader<PointsOfInterestRequest>(
            provider: DefaultAPIProvider(baseURL: baseURL, configuration: MockURLProtocol.configuration))
        let expectation = expectation(description: "a result")

        loader.load(request) { result in
            XCTAssertEqual(try? result.get(), [PointOfInterest(name: "MyPointOfInterest")])
            expectation.fulfill()
        }
        wait(for: [expectation], timeout: 10)
    }
}
