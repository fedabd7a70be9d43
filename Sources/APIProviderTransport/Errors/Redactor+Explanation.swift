import Foundation

extension Redactor {
    /// The app's, a transport's or the system's words about an error, for a developer.
    func explanation(of error: any Error) -> String {
        switch error {
        case let error as URLError: error.reason.map(redacted) ?? redactedURLs(in: error.localizedDescription)
        case let error as APIError: error.description(redacting: redaction)
        case let error as DecodingError: error.summary
        case let error as CocoaError: redactedURLs(in: error.explanation)
        default: redactedURLs(in: error.explanation)
        }
    }
}
