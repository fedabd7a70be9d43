package import Dispatch
package import Foundation
import MiniRx

/// Where the body of a successful response goes. Other bodies go into memory.
package enum ResponseDestination: Sendable {
    case memory
    case file(URL)
    /// The body is streamed to a reader. One that is not of the `expected` media type goes into memory if it ends: it may be an error.
    case stream(expected: String? = nil)

    package var isMemory: Bool { if case .memory = self { true } else { false } }

    package var isStream: Bool { if case .stream = self { true } else { false } }
}

/// What a provider knows of a request at its subscription.
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
    /// When the request was subscribed to. Attempts that are repeated have it from the first.
    package let subscriptionTime = DispatchTime.now()

    package init(
        baseURL: URL?, decoder: any BodyDecoder = JSONDecoder(), signOutCount: Int? = nil, destination: ResponseDestination = .memory
    ) {
        (self.baseURL, self.decoder, isPartOfRefresh) = (baseURL, decoder, RefreshContext.isAnyUnderWay)
        download = if case .file = destination { Download() } else { nil }
        self.signOutCount = signOutCount ?? SignOutCounter.current
    }
}
