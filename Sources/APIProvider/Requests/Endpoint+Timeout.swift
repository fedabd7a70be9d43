import Dispatch
import Foundation
import MiniRx

private let clock = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

extension Endpoint {
    /// Fails `response` when the request has taken longer than the endpoint's `timeout`.
    func limiting(_ response: Single<Response>, to request: PreparedRequest) -> Single<Response> {
        guard let wholeTimeout else { return response }
        guard wholeTimeout.seconds > 0 else {
            return .error(APIError.invalid("its timeout is \(wholeTimeout.seconds) seconds; it must be more than 0"))
        }
        let reason = "it took longer than the \(wholeTimeout.seconds) seconds that its endpoint allows in all"
        let error = APIError.transport(request, underlying: URLError(.timedOut, reason: reason))
        return response.timeout(wholeTimeout, clock, error: error)
    }
}
