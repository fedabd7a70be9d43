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

    // The page
}
