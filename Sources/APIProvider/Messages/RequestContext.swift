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

/// Where the body of an accepted response goes. Other bodies go into memory.
package enum ResponseDestination: Sendable {
    case memory
    case file(URL)
    /// To a reader, while it comes.
    case stream

    package var isMemory: Bool { if case .memory = self { true } else { false } }
}

/// What a provider knows of a request at its subscription.
package struct RequestContext: Sendable {
    let baseURL: URL?
    let decoder: any BodyDecoder
    /// When the request began, counted in sign-outs. For pages and events, when the first of their requests began.
    let sessionEpoch: Int
    /// Whether a refresh of a credential has sent it, for which other requests wait.
    let isPartOfRefresh: Bool

    package init(baseURL: URL?, decoder: any BodyDecoder = JSONDecoder(), sessionEpoch: Int? = nil) {
        (self.baseURL, self.decoder, isPartOfRefresh) = (baseURL, decoder, RefreshContext.areUnderWay)
        self.sessionEpoch = sessionEpoch ?? SessionEpoch.current
    }
}
