import APIProvider
import Foundation

/// The reason why a mock could not answer, for the author of the test.
package struct MockFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    package let description: String
    /// Whether the scope of the request reports it as a mistake in the setup of the test.
    let isSetupMistake: Bool

    package init(_ description: String, isSetupMistake: Bool = true) {
        (self.description, self.isSetupMistake) = (description, isSetupMistake)
    }

    /// - Parameter error: The reason why the value of a stub cannot be encoded.
    init(encoding error: any Error) { self.init("The stub has no answer, because its value cannot be encoded: \(error.explanation)") }

    package var errorDescription: String? { description }

    /// Foundation on Linux looks for the description only here.
    package var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description, NSError.isSafeToShowKey: true] }

    package static var errorDomain: String { "MockNetwork" }
}
