// Recipe 3: a seam instead of a stack.
//
// The service gets its transport handed in. A test hands in a closure that succeeds or fails: no URLSession, no mock, no waiting, because
// such a transport answers at once, on the thread that asks.
//
// Use it for the code around the network: what a screen shows, what becomes of an error. It still builds, validates and decodes, but no URL
// loading runs; when that is what the test is about, take recipe 1.

import APIProvider
import Foundation
import MiniRx
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: The app

struct Animal: Decodable, Equatable {
    let id: Int
    let name: String
    let latinName: String
    let animalType: String
    let activeTime: String
    let lengthMin: String
    let lengthMax: String
    let weightMin: String
    let weightMax: String
    let lifespan: String
    let habitat: String
    let diet: String
    let geoRange: String
    let imageLink: URL

    enum CodingKeys: String, CodingKey {
        case id, name, lifespan, habitat, diet
        case latinName = "latin_name"
        case animalType = "animal_type"
        case activeTime = "active_time"
        case lengthMin = "length_min"
        case lengthMax = "length_max"
        case weightMin = "weight_min"
        case weightMax = "weight_max"
        case geoRange = "geo_range"
        case imageLink = "image_link"
    }
}

enum AnimalError: String, LocalizedError {
    case unknownError

    var errorDescription: String? { rawValue }
}

struct AnimalService {
    private let provider: DefaultAPIProvider

    init(transport: any Transport = URLSessionTransport(configuration: .default)) {
        provider = DefaultAPIProvider(baseURL: URL(string: "https://zoo.example.com")!, transport: transport)
    }

    func animal(completion: @escaping @Sendable (Result<Animal, AnimalError>) -> Void) {
        // Nobody cancels it.
        _ = provider.request(Endpoint<Animal>(.get, "/animals/rand"))
            .subscribe(onSuccess: { completion(.success($0)) }, onFailure: { _ in completion(.failure(.unknownError)) })
    }
}

// MARK: Its tests

@Suite("Recipe 3: a seam instead of a stack")
struct Recipe3ASeamInsteadOfAStackTests {
    @Test("The service gives the animal that comes")
    func success() throws {
        let transport = ClosureTransport { request in .just(APIResponse(to: request, data: Data(json.utf8))) }
        let animal = try #require(outcome(of: transport)).get()
        #expect(animal.name == "Siberian Tiger")
        #expect(animal.latinName == "Panthera tigris altaica")
        #expect(animal.id == 48)
    }

    @Test(
        "Whatever goes wrong is unknown",
        arguments: [
            ClosureTransport { _ in .error(URLError(.notConnectedToInternet)) },
            ClosureTransport { request in .just(APIResponse(to: request, status: 500)) },
        ])
    func failure(transport: ClosureTransport) throws {
        let result = try #require(outcome(of: transport))
        #expect(result == .failure(.unknownError))
        #expect(AnimalError.unknownError.localizedDescription == "unknownError")
    }

    /// `nil` if nothing has come by the time that `animal` returns.
    private func outcome(of transport: ClosureTransport) -> Result<Animal, AnimalError>? {
        let box = Box()
        AnimalService(transport: transport).animal { box.result = $0 }
        return box.result
    }

    /// The closure is `@Sendable`, but this transport calls it before `animal` returns, on the test's own thread.
    private final class Box: @unchecked Sendable {
        var result: Result<Animal, AnimalError>?
    }

    private let json = """
        {
          "name": "Siberian Tiger", "latin_name": "Panthera tigris altaica", "animal_type": "Mammal", "active_time": "Nocturnal",
          "length_min": "9.00", "length_max": "12.00", "weight_min": "400.00", "weight_max": "700.00", "lifespan": "16",
          "habitat": "Forests and mountains", "diet": "Deer, wild boar and fish", "geo_range": "Russian Far East",
          "image_link": "https://zoo.example.com/images/48.jpg", "id": 48
        }
        """
}
