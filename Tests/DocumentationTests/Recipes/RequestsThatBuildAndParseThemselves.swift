import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import XCTest

private struct PointOfInterest: Decodable, Equatable {
    let name: String
}

private struct PointsOfInterestRequest: APIRequest {
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

private final class APIRequestLoader<Request: APIRequest>: Sendable {
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

final class RequestsThatBuildAndParseThemselvesTests: XCTestCase {
    private let request = PointsOfInterestRequest(latitude: 37.3293, longitude: -121.8893)
    private let baseURL = URL(string: "https://example.com")!

    override func tearDown() { MockURLProtocol.reset() }

    func testTheRequestIsBuilt() throws {
        let built = try request.endpoint.preparedRequest(relativeTo: baseURL)
        XCTAssertEqual(built.url.absoluteString, "https://example.com/locations?lat=37.3293&long=-121.8893")
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
