import Dispatch
import Foundation
import MiniRx

private let scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

extension Endpoint {
    /// Fails `response` when the request has taken longer than the endpoint's `timeout`.
    func applyTimeout(to response: Single<Response>, of request: PreparedRequest) -> Single<Response> {
        guard let timeout = configuration.timeout else { return response }
        guard timeout.seconds > 0 else {
            return .error(APIError.invalid("its timeout must be more than 0 seconds"))
        }
        let reason = "it took longer than the \(timeout.seconds) seconds that its endpoint allows in all"
        let error = APIError.transport(request, underlying: URLError(.timedOut, reason: reason))
        return response.timeout(timeout, scheduler, error: error)
    }
}
