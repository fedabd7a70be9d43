import XCTest

nonisolated final class RequestsThatBuildAndParseThemselves: XCTestCase {
    nonisolated struct PointOfInterest: Decodable, Equatable { let name: String }

    private let request = PointsOfInterestRequest(latitude: 37.3293, longitude: -121.8893)
    private let baseURL = URL(string: "https://example.com")!

    override func tearDown() { MockURLProtocol.reset() }

    // The page
}
