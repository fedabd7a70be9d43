import APIProvider
import Foundation
import MiniRx

enum Answer: Sendable {
    case failure(URLError.Code)
    case response(status: Int, headers: HTTPHeaders, body: String)

    static func status(_ status: Int, _ headers: HTTPHeaders = [:], body: String = "") -> Answer {
        .response(status: status, headers: headers, body: body)
    }
}

/// Answers requests, and keeps what it was asked for and what it is told.
final class FakeServer: @unchecked Sendable {
    private let lock = NSLock()
    private var planned: [Answer] = []
    private var (seen, told): ([String], [String]) = ([], [])
    private var closure: (@Sendable (PreparedRequest) -> Answer)?

    /// `GET /path` and the `Authorization` of each request.
    var lines: [String] { lock.withLock { seen } }
    var notes: [String] { lock.withLock { told } }
    var answers: (@Sendable (PreparedRequest) -> Answer)? {
        get { lock.withLock { closure } }
        set { lock.withLock { closure = newValue } }
    }

    func note(_ text: String) { lock.withLock { told.append(text) } }
    func will(_ answers: Answer...) { lock.withLock { planned += answers } }

    func answer(_ request: PreparedRequest) -> Single<APIResponse> {
        let (closure, next) = lock.withLock {
            seen.append("\(request.method.rawValue) \(request.url.path) \(request.headers["Authorization"] ?? "")")
            return (self.closure, planned.isEmpty || self.closure != nil ? nil : planned.removeFirst())
        }
        switch closure?(request) ?? next {
        case .response(let status, let headers, let body):
            return .just(APIResponse(to: request, statusCode: status, headers: headers, data: Data(body.utf8)))
        case .failure(let code): return .error(URLError(code))
        case nil: return .error(URLError(.resourceUnavailable))
        }
    }
}

/// A single that succeeds when it is told to.
final class Gate: @unchecked Sendable {
    private let lock = NSLock()
    private var waiting: [Single<String>.SingleObserver] = []

    var single: Single<String> {
        .create { [self] observer in
            lock.withLock { waiting.append(observer) }
            return Disposables.create()
        }
    }

    func open(_ value: String) {
        for observer in lock.withLock({ waiting }) { observer(.success(value)) }
    }
}
