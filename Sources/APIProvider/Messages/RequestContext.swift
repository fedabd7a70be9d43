package import Foundation
import MiniRx

/// Whether redirects led to a request, and whether one left the origin.
enum RedirectTrail: Sendable {
    /// It is the first request.
    case none
    case sameOrigin
    /// At least one of them led to another origin.
    case otherOrigin
}

/// Where the body of a successful response goes. Other bodies go into memory.
package enum ResponseDestination: Sendable {
    case memory
    case file(URL)
    /// The body is streamed to a reader.
    case stream

    package var isMemory: Bool { if case .memory = self { true } else { false } }
}

/// What a provider knows of a request at its subscription.
package final class RequestContext: Sendable {
    let baseURL: URL?
    let decoder: any BodyDecoder
    /// The number of sign-outs in this process when the request was subscribed to. For pages and events, the number when the first of their
    /// requests was subscribed to.
    let signOutCount: Int
    /// Whether the request is part of a credential refresh that other requests wait for.
    let isPartOfRefresh: Bool

    package init(baseURL: URL?, decoder: any BodyDecoder = JSONDecoder(), signOutCount: Int? = nil) {
        (self.baseURL, self.decoder, isPartOfRefresh) = (baseURL, decoder, RefreshContext.isAnyUnderWay)
        self.signOutCount = signOutCount ?? SignOutCounter.current
    }
}
