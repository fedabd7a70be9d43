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

    /// Records `request`, and decides by what the scope holds at this moment.
    func receive(_ request: URLRequest) -> Reply {
        let recorded = RecordedRequest(request)
        let answers = state.withLock { state in
            state.requests.append(recorded)
            return (handler: state.requestHandler, responseType: state.responseType, dto: state.dto)
        }
        guard let handler = answers.handler else {
            return .answer(Result { try answer(to: recorded, answers.responseType, answers.dto) })
        }
        var request = request
        if !recorded.body.isEmpty { request.httpBody = recorded.body }  // A stream has been read to its end.
        return .handler { [request] in Self.$current.withValue(self) { Result { try handler(request) } } }
    }

    /// What becomes of a request: an answer, or code of the user's that makes one, wherever that may run.
    enum Reply {
        case answer(MockURLProtocol.Answer)
        case handler(@Sendable () -> MockURLProtocol.Answer)
    }

    private func answer(
        to request: RecordedRequest, _ responseType: MockURLProtocol.ResponseType?, _ dto: (any MockDTO)?
    ) throws -> (HTTPURLResponse, Data) {
        guard responseType != nil || dto != nil else {
            state.withLock { $0.unmatchedRequests.append(request) }
            throw MockFailure(unanswered: request, in: self)
        }
        if case .error(let error) = responseType { throw error }
        let body = try dto?.load() ?? Data()
        guard case .success(let response) = responseType else { return (try .mock(200, for: request.url), body) }
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
