import APIProvider
import Foundation
import TestSupport

/// A request of which a test says what it needs.
struct Get: APIRequest {
    typealias Response = String
    var baseURL = example
    var path: RequestPath = ""
    var method: HTTPMethod = .get
    var query: QueryParameters = [:]
    var headers: HTTPHeaders = [:]
    var body: HTTPBody?
}
