import APIProvider
import Foundation
import GitHubAPI

extension Error {
    /// Whether `--verbose` has printed the developer's sentence with the request.
    var isLogged: Bool { if case .transport? = self as? APIError { true } else { false } }

    /// What happened, and what to do, for people. The developer's sentence, which `--verbose` prints, is the `description`.
    var sentence: String {
        if case .unacceptableStatus(let response)? = self as? APIError, let limit = GitHubRateLimit.exceeded(by: response) {
            return "GitHub answers no more requests now. Try again at \(limit.reset.formatted(.iso8601))."
        }
        let error = self as? any LocalizedError
        let words = error?.errorDescription ?? (self as? CocoaError)?.localizedDescription ?? "\(self)"
        return [words, error?.recoverySuggestion].compactMap { $0 }.joined(separator: " ").printable
    }
}
