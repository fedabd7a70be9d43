package import Dispatch
import Foundation
import MiniRx

/// A provider's notes about a request, from the subscription.
package final class RequestContext: Sendable {
    let decoder: any BodyDecoder
    /// The number of sign-outs in this process at the subscription. For pages and events, at the first request's subscription.
    package let signOutCount: Int
    /// The time of the subscription, also in a second attempt.
    package let subscriptionTime = DispatchTime.now()

    package init(decoder: any BodyDecoder = JSONDecoder(), signOutCount: Int? = nil) {
        self.decoder = decoder
        self.signOutCount = signOutCount ?? SignOutCounter.current
    }
}

extension RequestOptions {
    /// The provider's notes about the request; `nil` without a provider.
    package var context: RequestContext? {
        get { self[ContextKey.self] }
        set { if let newValue { self[ContextKey.self] = newValue } else { remove(ContextKey.self) } }
    }

    /// The transport for the request, while middlewares handle the request. Responses and errors for the app hold no transport, and so no
    /// connection.
    var transport: (any Transport)? {
        get { self[TransportKey.self] }
        set { if let newValue { self[TransportKey.self] = newValue } else { remove(TransportKey.self) } }
    }
}

extension PreparedRequest {
    /// The number of sign-outs in this process at the subscription; `nil` without a provider.
    package var signOutCount: Int? { options.context?.signOutCount }

    /// The header fields that the provider's transport would add or replace now, such as cookies; `nil` if unknown. For a cache, because a
    /// response may vary by these fields. Known only while middlewares handle the request.
    public var addedHeaders: HTTPHeaders? { options.transport?.addedHeaders(for: self) }

    /// The request after `change`, attributed to the same provider.
    func changed(by change: (inout PreparedRequest) throws -> Void) rethrows -> PreparedRequest {
        var changed = self
        try change(&changed)
        return changed.attributed(to: self)
    }

    /// Attributes a middleware's own request to the provider of `request`, and hides the secrets of both.
    func attributed(to request: PreparedRequest) -> PreparedRequest {
        guard options.context == nil else { return self }
        var attributed = self
        (attributed.options.context, attributed.options.transport, attributed.baseURL) = (
            request.options.context, request.options.transport, request.baseURL
        )
        attributed.secrets.merge(request.secrets)
        return attributed
    }
}

private enum ContextKey: BuiltInOptionKey { static var defaultValue: RequestContext? { nil } }

private enum TransportKey: BuiltInOptionKey { static var defaultValue: (any Transport)? { nil } }

extension Error {
    /// The error without the request's transport.
    func releasingTransport() -> any Error {
        guard case .transport(var request, let underlying)? = self as? APIError else {
            return (self as? APIError)?.mapResponse { $0.releasingTransport() } ?? self
        }
        request.options.transport = nil
        return APIError.transport(request, underlying: underlying)
    }
}

// MARK: - Sign-outs

/// Counts the sign-outs in this process. A subscription before the last sign-out belongs to the previous user.
package enum SignOutCounter {
    private static let count = Locked(0)

    package static var current: Int { count.withLock { $0 } }

    static func advance() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
