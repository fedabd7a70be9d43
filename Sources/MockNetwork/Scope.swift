import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One set of answers and of recorded requests: the process's, or that of one test.
final class Scope: Sendable {
    struct State {
        var responseType: MockURLProtocol.ResponseType?
        var dto: (any MockDTO)?
        var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))?
        var requests: [RecordedRequest] = []
        var unmatchedRequests: [RecordedRequest] = []
    }

    let name: String
    /// The class that sends requests here.
    let protocolClass: MockURLProtocol.Type
    let state = Locked(State())

    init(name: String, protocolClass: MockURLProtocol.Type) {
        self.name = name
        self.protocolClass = protocolClass
    }

    /// For whatever runs outside of every `withScope`.
    static let process = Scope(name: "the process-wide one", protocolClass: MockURLProtocol.self)

    @TaskLocal static var current: Scope?

    var hasHandler: Bool { state.withLock { $0.requestHandler != nil } }

    /// Records `request` and decides on its answer. No lock is held while a handler runs.
    func answer(to urlRequest: URLRequest) throws -> (HTTPURLResponse, Data) {
        let request = RecordedRequest(urlRequest)
        let answers = state.withLock { state in
            state.requests.append(request)
            return (handler: state.requestHandler, responseType: state.responseType, dto: state.dto)
        }
        if let handler = answers.handler { return try Self.$current.withValue(self) { try handler(urlRequest) } }
        guard answers.responseType != nil || answers.dto != nil else {
            state.withLock { $0.unmatchedRequests.append(request) }
            throw MockFailure(unanswered: request, in: self)
        }
        if case .error(let error) = answers.responseType { throw error }
        let body = try answers.dto?.load() ?? Data()
        guard case .success(let response) = answers.responseType else { return (try .mock(200, for: request.url), body) }
        guard response.url == .any else { return (response, body) }
        return (try .mock(response.statusCode, headers: response.allHeaderFields as? [String: String], for: request.url), body)
    }
}

extension MockFailure {
    fileprivate init(unanswered request: RecordedRequest, in scope: Scope) {
        let elsewhere = ScopeClasses.liveScopes
        let hint =
            scope === Scope.process && !elsewhere.isEmpty
            ? """

            Scopes are live: \(elsewhere.map { "\"\($0.name)\"" }.joined(separator: ", ")). A session made of \
            MockURLProtocol.configuration inside of a scope is answered by that scope; MockURLProtocol.self is the process-wide one.
            """ : ""
        self.init(
            """
            MockURLProtocol has no answer for this request, and did not send it:
                \(request.description.replacingOccurrences(of: "\n", with: "\n    "))
            Scope: \(scope.name).\(hint)
            Give it one before the request is sent, for example:
                MockURLProtocol.responseWithStatusCode(code: 200)
            """)
    }
}

extension HTTPURLResponse {
    static func mock(_ status: Int, headers: [String: String]? = nil, for url: URL = .any) throws -> HTTPURLResponse {
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers) else {
            throw MockFailure("There is no HTTP response with the status \(status).")
        }
        return response
    }
}

extension URL {
    /// Stands for the URL of whatever request is answered.
    static let any = URL(fileURLWithPath: "/any")
}
