// expect: errors at their lines
// flags: -default-isolation MainActor
import APIProvider

struct Model: Codable { let login: String }
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
