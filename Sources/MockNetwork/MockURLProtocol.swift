import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers the requests of a `URLSession` from memory and from fixtures, and never from the network.
///
/// ```swift
/// MockURLProtocol.responseWithDTO(type: .search)
/// MockURLProtocol.responseWithStatusCode(code: 200)
/// let provider = DefaultAPIProvider(configuration: MockURLProtocol.configuration)
/// ```
///
/// A request gets the answer of ``requestHandler``, else ``responseType`` with ``dto``, else an error that says what to do. Inside of
/// `withScope` and of a test with the trait `.mockNetwork`, all of this is that scope's own, so that tests may run in parallel. It works
/// with any code that uses `URLSession`.
public class MockURLProtocol: URLProtocol {
    typealias Answer = Result<(HTTPURLResponse, Data), any Error>

    /// A session may call `startLoading` again and `stopLoading` at any moment, and nothing may be told to its client after the end.
    private enum Phase {
        case idle
        case answering
        case answered(Answer)
        case ended

        /// What a `startLoading` finds, which goes on to the next phase.
        mutating func advance() -> Phase {
            defer {
                switch self {
                case .idle: self = .answering
                case .answered: self = .ended
                case .answering, .ended: break
                }
            }
            return self
        }
    }

    private let phase = Locked(Phase.idle)

    /// Every request is the mock's.
    override public class func canInit(with request: URLRequest) -> Bool { true }

    /// The request as it is.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Makes the answer and tells it to the client.
    override public func startLoading() {
        switch phase.withLock({ $0.advance() }) {
        case .idle: makeAnswer()
        case .answered(let answer): tell(answer)
        case .answering, .ended: break
        }
    }

    /// Nothing is told to the client any more.
    override public func stopLoading() {
        let old = phase.withLock { phase in
            defer { phase = .ended }
            return phase
        }
        _ = consume old
    }

    private func makeAnswer() {
        guard let scope = Self.scopeOfSession else {
            let request = RecordedRequest(request)
            return tellAtOnce(.failure(MockFailure("The scope of the session that sent this request has ended:\n    \(request)")))
        }
        switch scope.receive(request) {
        case .answer(let answer): tellAtOnce(answer)
        case .handler(let handler):
            let thread = LoadingThread(of: self)
            DispatchQueue.global().async {
                thread.urlProtocol.become(handler())
                thread.startLoading()
            }
        }
    }

    private func tellAtOnce(_ answer: Answer) {
        become(answer)
        startLoading()
    }

    private func become(_ answer: Answer) {
        phase.withLock { phase in
            if case .answering = phase { phase = .answered(answer) }
        }
    }

    private func tell(_ answer: Answer) {
        switch answer {
        case .success((let response, let body)):
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            let hasBody = request.httpMethod != "HEAD" && ![204, 304].contains(response.statusCode)
            if hasBody, !body.isEmpty { client?.urlProtocol(self, didLoad: body) }
            client?.urlProtocolDidFinishLoading(self)
        case .failure(let error):
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    /// The scope of the session that has made this object; `nil` once it has ended.
    private static var scopeOfSession: Scope? {
        self == MockURLProtocol.self ? Scope.process : ScopeClasses.scope(of: self)
    }
}
