import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

private struct Animal: Decodable {
    let id: Int
    let name: String
    let latinName: String
}

private enum AnimalError: Error { case unknownError }

private struct AnimalService {
    private let provider: DefaultAPIProvider

    init(transport: any Transport = URLSessionTransport(configuration: .default)) {
        // swift-format-ignore: NeverForceUnwrap
        provider = DefaultAPIProvider(baseURL: URL(string: "https://zoo.example.com")!, transport: transport)
    }

    func animal(completion: @escaping @Sendable (Result<Animal, AnimalError>) -> Void) {
        // Nobody cancels it.
        _ = provider.request(Endpoint<Animal>(.get, "/animals/rand"))
            .subscribe(onSuccess: { completion(.success($0)) }, onFailure: { _ in completion(.failure(.unknownError)) })
    }
}

@Suite("Recipe 3: A seam instead of a stack")
struct ASeamInsteadOfAStackTests {
    private let json = #"{"id": 48, "name": "Siberian Tiger", "latinName": "Panthera tigris altaica"}"#

    @Test("The service gives the animal that comes")
    func success() throws {
        let transport = ClosureTransport { request in .just(APIResponse(to: request, data: Data(json.utf8))) }
        let animal = try #require(outcome(of: transport)).get()
        #expect(animal.name == "Siberian Tiger")
        #expect(animal.latinName == "Panthera tigris altaica")
        #expect(animal.id == 48)
    }

    /// `nil` if nothing has come by the time that `animal` returns.
    private func outcome(of transport: ClosureTransport) -> Result<Animal, AnimalError>? {
        let results = Log<Result<Animal, AnimalError>>()
        AnimalService(transport: transport).animal { results.append($0) }
        return results.entries.first
    }
}
