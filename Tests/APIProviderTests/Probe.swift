import APIProvider
import Foundation

struct Item: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}

/// Where the requests of tests go that never reach a network.
let example = URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/")

/// A request of which a test sets what it is about.
struct ProbeRequest<Response: Sendable & Decodable>: APIRequest {
    var baseURL = example
    var path: RequestPath = ""
    var method: HTTPMethod = .get
    var query: QueryParameters = [:]
    var headers: HTTPHeaders = [:]
    var body: HTTPBody?
    var timeoutInterval: TimeInterval?
}
