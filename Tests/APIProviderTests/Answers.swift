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
    private let log = Log<URLRequest>()

    init(_ answers: Answer...) { self.answers = answers }

    /// What has been sent.
    var requests: [URLRequest] { log.entries }

    var next: @Sendable (URLRequest) -> Single<APIResponse> {
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

extension URLRequest {
    init(_ method: String, _ url: String = "https://api.example.com/items", headers: [String: String] = [:], body: Data? = nil) {
        guard let url = URL(string: url) else { preconditionFailure("\(url) is a URL.") }
        self.init(url: url)
        httpMethod = method
        allHTTPHeaderFields = headers
        httpBody = body
    }
}

extension Middleware {
    /// Intercepts a request of a provider with a base URL, whose endpoint says nothing to middlewares.
    func intercept(
        _ request: URLRequest, of baseURL: URL? = example, next: @escaping Next
    ) -> Single<APIResponse> {
        var options = RequestOptions()
        options.baseURL = baseURL
        return intercept(request, options: options, next: next)
    }
}
