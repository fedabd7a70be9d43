import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer to requests without a stub.
struct DefaultAnswer: Sendable {
    var response: Result<HTTPURLResponse, any Error>?
    var dto: (any MockDTO)?
    var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))?
    /// The handler's context.
    var handlerContext: TaskLocalContext?

    /// The name in a report; `nil` without an answer.
    var name: String? {
        requestHandler != nil ? "A requestHandler" : response != nil ? "A responseType" : dto.map { "The fixture \"\($0.fileName)\"" }
    }

    /// Makes the answer to `request`; `nil` without an answer. `request` needs the whole body.
    func factory(for request: PreparedRequest) -> ResponseFactory? {
        if let requestHandler {
            return ResponseFactory(runsUserCode: true, context: handlerContext) {
                let (response, body) = try requestHandler(request.urlRequestWithBody)
                return .response(response, StubResponse.steps(of: body), to: $0)
            }
        }
        guard response != nil || dto != nil else { return nil }
        return ResponseFactory {
            let body = try dto?.load() ?? Data()
            return .response(try head(for: $0.url, length: body.count), StubResponse.steps(of: body), to: $0)
        }
    }

    private func head(for url: URL, length: Int) throws -> HTTPURLResponse {
        let response = try response?.get() ?? .mock(200, headers: nil, for: .any)
        guard response.url == .any else { return response }
        var headers = HTTPHeaders(response.headerFields)
        if length > 0, response.statusCode != 204, headers["Content-Length"] == nil { headers["Content-Length"] = "\(length)" }
        return try .mock(response.statusCode, headers: headers.dictionary, for: url)
    }
}

extension URL {
    /// A placeholder for the answered request's URL.
    static let any = URL(fileURLWithPath: "/any")
}
