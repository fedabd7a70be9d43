import Foundation

/// Where the body of an accepted response goes. That of another goes into memory.
enum BodyDestination: Sendable {
    case memory
    case file(URL)
    /// To a reader, while it comes.
    case stream
}
