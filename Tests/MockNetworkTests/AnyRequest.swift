import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// A request that is sent unchanged and accepts every response.
func anyRequest(
    _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data? = nil
) throws -> Endpoint<APIResponse> {
    let url = try #require(URL(string: url))
    return Endpoint(method, .url(example)) { $0 }.validating { _ in }.adapting { request in
        request.url = url
        request.headers = HTTPHeaders(headers)
        request.body = body.map { RequestBody($0) }
    }
}

func anyRequest(_ url: String) throws -> Endpoint<APIResponse> { try anyRequest(.get, url) }

/// A transport that answers at once.
func answering(
    status: Int = 200, headers: HTTPHeaders = [:], _ body: @escaping @Sendable (PreparedRequest) -> Data = { _ in Data() }
) -> ClosureTransport {
    ClosureTransport { .just(APIResponse(to: $0, statusCode: status, headers: headers, data: body($0))) }
}
