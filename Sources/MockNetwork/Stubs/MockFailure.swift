import APIProvider
import Foundation

/// The reason why a mock could not answer, for the author of the test.
struct MockFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    var errorDescription: String? { description }

    /// Foundation on Linux looks for the description only here.
    var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description, NSError.isSafeToShowKey: true] }

    static var errorDomain: String { "MockNetwork" }
}
