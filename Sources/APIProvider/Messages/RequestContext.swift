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
    /// The latest sign-out of anybody. For a page or for events, that at the first of their requests.
    let latestSignOut: Int
    /// Whether a refresh of a credential has sent it, for which other requests wait.
    let isPartOfRefresh: Bool

    package init(baseURL: URL?, decoder: any BodyDecoder = JSONDecoder(), latestSignOut: Int? = nil) {
        (self.baseURL, self.decoder, isPartOfRefresh) = (baseURL, decoder, OwnRefreshes.areUnderWay)
        self.latestSignOut = latestSignOut ?? SignOuts.latest
    }
}

/// Numbers the sign-outs of all users, so that a request knows whether one came after it began.
enum SignOuts {
    private static let count = Locked(0)

    static var latest: Int { count.withLock { $0 } }

    static func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// The refreshes that the current task or thread is part of.
enum OwnRefreshes {
    @TaskLocal static var all: [any RefreshUnderWay] = []

    /// Whether one of them has not ended.
    static var areUnderWay: Bool { all.contains(where: \.isUnderWay) }
}

protocol RefreshUnderWay: AnyObject, Sendable {
    var isUnderWay: Bool { get }
}
