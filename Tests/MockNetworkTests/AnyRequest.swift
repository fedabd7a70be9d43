import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request as it stands, whose response is whatever comes.
struct AnyRequest: APIRequest {
    let baseURL = example
    let request: URLRequest

    init(_ url: String) throws { try self.init("GET", url) }

    init(_ method: String, _ url: String, headers: [String: String] = [:], body: Data? = nil) throws {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        request.httpBody = body
        self.request = request
    }

    func urlRequest() throws -> URLRequest { request }
    func validate(_ response: APIResponse) throws {}
    func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> APIResponse { response }
}

/// A transport that answers at once.
func answering(
    status: Int = 200, headers: [String: String] = [:], _ body: @escaping @Sendable (URLRequest) -> Data = { _ in Data() }
) -> AnyTransport {
    AnyTransport { request in
        .deferred {
            let url = try #require(request.url)
            let response = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers))
            return .just(APIResponse(request: request, response: response, data: body(request)))
        }
    }
}
