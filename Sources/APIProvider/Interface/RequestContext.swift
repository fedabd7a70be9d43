package import Dispatch
package import Foundation
import MiniRx

/// The place for the body of a successful response. Other bodies go into memory.
package enum ResponseDestination: Sendable {
    case memory
    case file(URL)
    /// The body is streamed to a reader. A body of another media type than `expected` may be an error: it goes into memory if it has an
    /// end.
    case stream(expected: String? = nil)

    package var isMemory: Bool { if case .memory = self { true } else { false } }

    package var isStream: Bool { if case .stream = self { true } else { false } }
}

/// A provider's notes about a request, made at its subscription.
package final class RequestContext: Sendable {
    let baseURL: URL?
    let decoder: any BodyDecoder
    /// The number of sign-outs in this process when the request was subscribed to. For pages and events, the number when the first of their
    /// requests was subscribed to.
    package let signOutCount: Int
    /// Whether the request is part of a credential refresh that other requests wait for.
    let isPartOfRefresh: Bool
    /// `nil` unless the response goes to a file.
    let download: Download?
    /// The time of the subscription. A second attempt keeps it.
    package let subscriptionTime = DispatchTime.now()

    package init(
        baseURL: URL?, decoder: any BodyDecoder = JSONDecoder(), signOutCount: Int? = nil, destination: ResponseDestination = .memory
    ) {
        (self.baseURL, self.decoder, isPartOfRefresh) = (baseURL, decoder, RefreshContext.isAnyUnderWay)
        download = if case .file = destination { Download() } else { nil }
        self.signOutCount = signOutCount ?? SignOutCounter.current
    }
}
