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

extension RequestOptions {
    /// What the provider says of the request; `nil` if no provider sends it.
    fileprivate(set) var context: RequestContext? {
        get { self[ContextKey.self] }
        set { if let newValue { self[ContextKey.self] = newValue } else { remove(ContextKey.self) } }
    }

    /// The transport that will send the request, as long as it is with the middlewares. What the app gets holds no transport, and so no
    /// connection.
    var transport: (any Transport)? {
        get { self[TransportKey.self] }
        set { if let newValue { self[TransportKey.self] = newValue } else { remove(TransportKey.self) } }
    }
}

extension PreparedRequest {
    /// What its provider says of it; `nil` if no provider sends it.
    package var context: RequestContext? {
        get { options.context }
        set { options.context = newValue }
    }

    /// The number of sign-outs in this process when the request was subscribed to; `nil` if no provider sends it.
    package var signOutCount: Int? { context?.signOutCount }

    /// The header fields that the provider's transport adds to it now, or sets in place of its own, such as cookies; `nil` if that is
    /// unknown. A cache reads them, because a response may vary by them. They are known while the request is with the middlewares.
    public var addedHeaders: HTTPHeaders? { options.transport?.addedHeaders(for: self) }

    /// The request that `change` has made of it, attributed to the same provider.
    func changed(by change: (inout PreparedRequest) throws -> Void) rethrows -> PreparedRequest {
        var changed = self
        try change(&changed)
        return changed.attributed(to: self)
    }

    /// Attributes a request that a middleware has made to the provider of `request`, and hides the secrets of both.
    func attributed(to request: PreparedRequest) -> PreparedRequest {
        guard context == nil else { return self }
        var attributed = self
        (attributed.context, attributed.options.transport, attributed.baseURL) = (
            request.context, request.options.transport, request.baseURL
        )
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
        request.options.transport = nil
        return APIError.transport(request, underlying: underlying)
    }
}
