import APIProvider
import Foundation
import GitHubAPI

extension Error {
    /// The error in one sentence, with GitHub's own message if it sent one.
    var sentence: String {
        guard case .unacceptableStatus(let response)? = self as? APIError else {
            let words = (self as? any LocalizedError)?.errorDescription ?? (self as? CocoaError)?.localizedDescription
            return (words ?? "\(self)").printable
        }
        if let limit = GitHubRateLimit.exceeded(by: response) {
            return "GitHub answers no more requests (\(response.statusCode)); try again at \(limit.reset.formatted(.iso8601))."
        }
        guard let refusal = try? response.decode(GitHubError.self) else { return "\(self)".printable }
        let words = refusal.description.printable
        return "GitHub refuses with \(response.statusCode): \(words)\(words.hasSuffix(".") ? "" : ".")"
    }
}
