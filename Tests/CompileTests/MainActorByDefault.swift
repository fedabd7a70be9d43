// flags: -default-isolation MainActor
import APIProvider
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
