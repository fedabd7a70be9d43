import APIProvider
import Foundation

/// The reason why a mock could not answer, for the author of the test.
package struct MockFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    package let description: String
    /// Whether it is no mistake in the setup of the test, or is reported elsewhere.
    let isReported: Bool

    package init(_ description: String, isReported: Bool = false) { (self.description, self.isReported) = (description, isReported) }

    /// - Parameter error: The reason why the value of a stub cannot be encoded.
    init(encoding error: any Error) { self.init("The stub has no answer, because its value cannot be encoded: \(error.explanation)") }

    package var errorDescription: String? { description }

    /// Foundation on Linux looks for the description only here.
    package var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description, NSError.isSafeToShowKey: true] }

    package static var errorDomain: String { "MockNetwork" }
}
