// flags: -default-isolation MainActor
import APIProvider
import APIProviderMocks
import Foundation

struct Model: Codable { let login: String }
nonisolated struct User: Decodable { let login: String }
// swift-format-ignore: NeverForceUnwrap
nonisolated let gitHub = URL(string: "https://api.github.com")!
nonisolated struct Other: Codable { let login: String }

struct Read: APIRequest {
    var endpoint: Endpoint<Model> { Endpoint(.get, "/x") }  // error: main actor-isolated conformance of 'Model' to 'Decodable'
}

struct Write: APIRequest {
    let model: Model
    var endpoint: Endpoint<Void> { Endpoint(.put, "/x", body: .json(model)) }  // error: conformance of 'Model' to 'Encodable'
}

struct Fine: APIRequest {
    let other: Other
    var endpoint: Endpoint<Other> { Endpoint(.put, "/x", body: .json(other)) }
}

extension Other {
    struct Part: Codable { let login: String }
}

struct ReadPart: APIRequest {
    var endpoint: Endpoint<Other.Part> { Endpoint(.get, "/x") }  // error: main actor-isolated conformance of 'Other.Part' to 'Decodable'
}

// As the package manager of Swift 6.3 writes it for a target that has resources.
extension Bundle { static let module = Bundle.main }

enum Fixture: String, MockDTO {
    case search = "Search"
    static let bundle = Bundle.module  // error: main actor-isolated default value in a nonisolated context
}
