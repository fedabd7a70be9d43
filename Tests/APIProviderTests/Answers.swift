import APIProvider
import Foundation
import MiniRx
import TestSupport

/// What stands behind a middleware in a test: it gives the answers that the test lists, the last one again and again.
final class Answers: Sendable {
    enum Answer: Sendable {
        case status(Int, headers: HTTPHeaders = [:], body: String = "")
        case error(any Error)
    }

    private let answers: [Answer]
    private let log = Log<PreparedRequest>()

    init(_ answers: Answer...) { self.answers = answers }

    /// What has been sent.
    var requests: [PreparedRequest] { log.entries }

    var next: @Sendable (PreparedRequest) -> Single<APIResponse> {
        { request in
            .deferred {
                self.log.append(request)
                switch self.answers[min(self.log.count, self.answers.count) - 1] {
                case .status(let status, let headers, let body):
                    return .just(APIResponse(to: request, status: status, headers: headers, data: Data(body.utf8)))
                case .error(let error):
                    return .error(error)
                }
            }
        }
    }
}

extension PreparedRequest {
    /// A request of a provider with a base URL.
    init(_ method: HTTPMethod, _ url: String = "https://api.example.com/items", headers: HTTPHeaders = [:], body: Data? = nil) {
        guard let url = URL(string: url) else { preconditionFailure("\(url) is a URL.") }
        self.init(method, url, headers: headers, body: body.map { RequestBody($0) })
        context = RequestContext(baseURL: example)
    }
}

extension Middleware {
    /// Intercepts a request of a provider with this base URL.
    func intercept(_ request: PreparedRequest, of baseURL: URL?, next: @escaping Next) -> Single<APIResponse> {
        var request = request
        request.context = RequestContext(baseURL: baseURL)
        return intercept(request, next: next)
    }
}

extension PreparedRequest {
    /// The whole body; `nil` if there is no body, or it cannot be read.
    var bodyData: Data? { try? body?.data() }
}
