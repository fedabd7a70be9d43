import APIProvider
import Foundation
import TestSupport

struct Item: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}

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
