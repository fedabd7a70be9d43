import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answers and recorded requests of one test, or of the process.
final class Scope: Sendable {
    struct State {
        var responseType: MockURLProtocol.ResponseType?
        var dto: (any MockDTO)?
        var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))?
        /// The oldest first.
        var stubs: [Stub] = []
        /// The number of requests that each stub has answered.
        var uses: [Int] = []
        var requests: [RecordedRequest] = []
        var unanswered: [(request: RecordedRequest, report: String)] = []
        var traffic: [Traffic] = []

        /// The answer for all requests in words, for a report. `nil` if there is none.
        var setUp: String? {
            requestHandler != nil
                ? "A requestHandler" : responseType != nil ? "A responseType" : dto.map { "The fixture \"\($0.fileName)\"" }
        }
    }

    let name: String
    /// The class that sends requests here.
    let protocolClass: MockURLProtocol.Type
    let state = Locked(State())

    init(name: String, protocolClass: MockURLProtocol.Type) {
        self.name = name
        self.protocolClass = protocolClass
    }

    /// The scope of code that runs outside every `withScope`.
    static let process = Scope(name: "the process-wide one", protocolClass: MockURLProtocol.self)

    @TaskLocal static var current: Scope?

    func add(_ stub: Stub) -> Stub {
        let stub = stub.added(to: self)
        state.withLock {
            $0.stubs.append(stub)
            $0.uses.append(0)
        }
        return stub
    }

    /// Records `request`, and decides on the answer by the scope's present state.
    func receive(_ request: URLRequest) -> Decision {
        let recorded = RecordedRequest(request)
        let started = Date()
        switch decide(request, recorded) {
        case .reply(let reply): return .reply(keep(reply, to: request, recorded, started))
        case .handler(let handler): return .handler { self.keep(handler(), to: request, recorded, started) }
        }
    }

    /// Keeps the traffic of one test. The traffic of the process would grow without end, and nothing shows it.
    private func keep(_ reply: Reply, to request: URLRequest, _ recorded: RecordedRequest, _ started: Date) -> Reply {
        guard self !== Scope.process else { return reply }
        let traffic = Traffic(request, recorded, reply, started: started)
        state.withLock { $0.traffic.append(traffic) }
        return reply
    }

    private func decide(_ request: URLRequest, _ recorded: RecordedRequest) -> Decision {
        switch take(recorded) {
        case .answer(let answer, let recorded)?:
            guard answer.isHandler else { return .reply(answer.reply(to: recorded)) }
            return handler { answer.reply(to: recorded) }
        case .exhausted?:
            return .reply(Reply(.failed(unanswered(recorded))))
        case nil:
            return answerForEverything(request, recorded)
        }
    }

    /// A reply, or the user's code that makes one.
    enum Decision {
        case reply(Reply)
        case handler(@Sendable () -> Reply)
    }

    private func handler(_ reply: @escaping @Sendable () -> Reply) -> Decision {
        .handler { Self.$current.withValue(self, operation: reply) }
    }

    /// The turn of the newest stub that matches `request` and is not used up. The user's code never runs under the lock.
    private func take(_ request: RecordedRequest) -> State.Turn? {
        let stubs = state.withLock(\.stubs)
        guard !stubs.isEmpty else { return nil }
        let incoming = Incoming(request)
        for index in stubs.indices.reversed() where stubs[index].matches(incoming) {
            if let turn = state.withLock({ $0.take(stubs[index], at: index, for: request) }) { return turn }
        }
        return nil
    }

    private func answerForEverything(_ request: URLRequest, _ recorded: RecordedRequest) -> Decision {
        let (handler, responseType, dto) = state.withLock { ($0.requestHandler, $0.responseType, $0.dto) }
        guard handler != nil || responseType != nil || dto != nil else { return .reply(Reply(.failed(unanswered(recorded)))) }
        state.withLock { $0.requests.append(recorded) }
        guard let handler else {
            return .reply(
                Reply {
                    if case .error(let error) = responseType { throw error }
                    let body = try dto?.load() ?? Data()
                    return Reply(try responseType.response(to: recorded.url), body, to: recorded)
                })
        }
        var request = request
        if !recorded.body.isEmpty { request.httpBody = recorded.body }  // A stream can be read only once.
        return self.handler { [request] in
            Reply {
                let (response, body) = try handler(request)
                return Reply(response, body, to: recorded)
            }
        }
    }

    private func unanswered(_ request: RecordedRequest) -> MockFailure {
        let (stubs, uses) = state.withLock { ($0.stubs, $0.uses) }
        let report = UnansweredReport(request: Incoming(request), stubs: Array(zip(stubs, uses)), scope: self).description
        state.withLock {
            $0.requests.append(request)
            $0.unanswered.append((request, report))
        }
        return MockFailure(report)
    }
}

extension Scope.State {
    enum Turn {
        case answer(StubResponse.Answer, RecordedRequest)
        case exhausted
    }

    /// The turn of `request` with a stub that matches. `nil` if the stub is used up, or was removed by a `reset`.
    mutating func take(_ stub: Stub, at index: Int, for request: RecordedRequest) -> Turn? {
        guard stubs.indices.contains(index), stubs[index].isSame(as: stub), uses[index] < stub.times else { return nil }
        guard let answer = stub.response.answer(after: uses[index]) else { return .exhausted }
        uses[index] += 1
        var request = request
        request.stub = stub
        requests.append(request)
        return .answer(answer, request)
    }
}

extension MockURLProtocol.ResponseType? {
    fileprivate func response(to url: URL) throws -> HTTPURLResponse {
        guard case .success(let response) = self else { return try .mock(200, for: url) }
        guard response.url == .any else { return response }
        return try .mock(response.statusCode, headers: response.allHeaderFields as? [String: String], for: url)
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
    /// Stands for the URL of the request that is answered.
    static let any = URL(fileURLWithPath: "/any")
}
