import APIProvider
import Foundation
import MiniRx
import TestSupport

/// Stands behind a middleware, or in place of a network: it gives the answers that the test lists, and repeats the last one.
final class Answers: Sendable {
    enum Answer: Sendable {
        case status(Int, headers: HTTPHeaders = [:], body: String = "")
        case error(any Error)
    }

    private let answers: [Answer]
    private let log = Log<PreparedRequest>()

    init(_ answers: [Answer]) { self.answers = answers }

    convenience init(_ answers: Answer...) { self.init(answers) }

    /// The requests that were sent.
    var requests: [PreparedRequest] { log.entries }

    var next: @Sendable (PreparedRequest) -> Single<APIResponse> {
        { request in
            .deferred {
                self.log.append(request)
                switch self.answers[min(self.log.count, self.answers.count) - 1] {
                case .status(let status, let headers, let body):
                    return .just(APIResponse(to: request, statusCode: status, headers: headers, data: Data(body.utf8)))
                case .error(let error):
                    return .error(error)
                }
            }
        }
    }

    /// A provider that gets these answers.
    func provider(_ middlewares: any Middleware...) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: ClosureTransport(next), middlewares: middlewares)
    }
}

extension PreparedRequest {
    /// A request of a provider with a base URL.
    init(_ method: HTTPMethod, _ url: String = "https://api.example.com/items", headers: HTTPHeaders = [:], body: Data? = nil) {
        guard let url = URL(string: url) else { preconditionFailure("\(url) is a URL.") }
        self.init(method, url, headers: headers, body: body.map { RequestBody($0) })
        (options.context, baseURL) = (RequestContext(), example)
    }

    /// The whole body; `nil` if there is no body, or it cannot be read.
    var bodyData: Data? { try? body?.data() }
}

extension Log where Entry == SingleEvent<APIResponse> {
    /// The status of each response, and `nil` for each error.
    var statuses: [Int?] { entries.map { try? $0.get().statusCode } }
}
