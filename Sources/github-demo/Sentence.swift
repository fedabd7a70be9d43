import APIProvider
import Foundation
import GitHubAPI

extension Error {
    /// The error in one sentence, with GitHub's own message if it sent one.
    func sentence(now: Date = Date()) -> String {
        guard case .unacceptableStatus(let response)? = self as? APIError else {
            let words = (self as? any LocalizedError)?.errorDescription ?? (self as? CocoaError)?.localizedDescription
            return (words ?? "\(self)").printable
        }
        if let limit = GitHubRateLimit.exceeded(by: response, now: now) {
            return "GitHub answers no more requests for now (\(response.statusCode)); try again \(limit.reset.wait(from: now))."
        }
        guard let refusal = try? response.decode(GitHubError.self) else { return "\(self)".printable }
        let words = refusal.description.printable
        return "GitHub refuses with \(response.statusCode): \(words)\(words.hasSuffix(".") ? "" : ".")"
    }
}

extension Date {
    /// `in 12 minutes, at 2026-11-21T09:30:00Z`
    fileprivate func wait(from now: Date) -> String {
        let seconds = Int(max(timeIntervalSince(now).rounded(.up), 1).clamped)
        let (count, unit) = seconds <= 90 ? (seconds, "second") : ((seconds + 59) / 60, "minute")
        return "in \(count) \(unit)\(count == 1 ? "" : "s"), at \(formatted(.iso8601))"
    }
}

extension Double {
    /// A server may send any number.
    fileprivate var clamped: Double { Swift.min(self, 1e9) }
}
