package import Dispatch
import Foundation
import MiniRx

/// What a provider says of a request, at its subscription.
package final class RequestContext: Sendable {
    let decoder: any BodyDecoder
    /// The number of sign-outs in this process when the request was subscribed to. For pages and events, the number when the first of their
    /// requests was subscribed to.
    package let signOutCount: Int
    /// The time of the subscription. A second attempt keeps it.
    package let subscriptionTime = DispatchTime.now()

    package init(decoder: any BodyDecoder = JSONDecoder(), signOutCount: Int? = nil) {
        self.decoder = decoder
        self.signOutCount = signOutCount ?? SignOutCounter.current
    }
}

extension PreparedRequest {
    /// What its provider says of it; `nil` if no provider sends it.
    package var context: RequestContext? {
        get { options[ContextKey.self] }
        set { if let newValue { options[ContextKey.self] = newValue } else { options.remove(ContextKey.self) } }
    }

    /// The number of sign-outs in this process when the request was subscribed to; `nil` if no provider sends it.
    package var signOutCount: Int? { context?.signOutCount }

    /// The transport that will send it, as long as it is with the middlewares. What the app gets holds no transport, and so no connection.
    var transport: (any Transport)? {
        get { options[TransportKey.self] }
        set { if let newValue { options[TransportKey.self] = newValue } else { options.remove(TransportKey.self) } }
    }

    /// The header fields that the provider's transport adds to it now, or sets in place of its own, such as cookies; `nil` if that is
    /// unknown. A cache reads them, because a response may vary by them. They are known while the request is with the middlewares.
    public var addedHeaders: HTTPHeaders? { transport?.addedHeaders(for: self) }

    /// Attributes a request that a middleware has made to the provider of `request`, and hides the secrets of both.
    func attributed(to request: PreparedRequest) -> PreparedRequest {
        guard context == nil else { return self }
        var attributed = self
        (attributed.context, attributed.transport, attributed.baseURL) = (request.context, request.transport, request.baseURL)
        attributed.secrets.merge(request.secrets)
        return attributed
    }
}

private enum ContextKey: BuiltInOptionKey { static var defaultValue: RequestContext? { nil } }

private enum TransportKey: BuiltInOptionKey { static var defaultValue: (any Transport)? { nil } }

extension Error {
    /// The error without the transport of its request.
    func releasingTransport() -> any Error {
        guard case .transport(var request, let underlying)? = self as? APIError else {
            return (self as? APIError)?.mapResponse { $0.releasingTransport() } ?? self
        }
        request.transport = nil
        return APIError.transport(request, underlying: underlying)
    }
}
