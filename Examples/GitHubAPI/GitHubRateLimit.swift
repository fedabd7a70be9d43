public import APIProvider
public import Foundation

/// The number of requests that GitHub still answers, from the headers of a response.
///
/// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
public struct GitHubRateLimit: Sendable, Hashable {
    /// The number of requests that are left until ``reset``.
    public let remaining: Int
    /// The time at which the count starts again.
    public let reset: Date

    /// Reads the headers of `response`. The result is `nil` if they have no limit.
    ///
    /// GitHub refuses many requests at once with a `Retry-After`. Then no request is left until that time.
    ///
    /// - Parameters:
    ///   - response: A response from GitHub.
    ///   - now: The time of the response. `Retry-After` starts at it.
    public init?(_ response: APIResponse, now: Date = Date()) {
        if response.isRefusal, let seconds = response.number(of: "Retry-After") {
            (remaining, reset) = (0, now.addingTimeInterval(Double(seconds)))
        } else if let count = response.number(of: "X-RateLimit-Remaining"), let seconds = response.number(of: "X-RateLimit-Reset") {
            (remaining, reset) = (count, Date(timeIntervalSince1970: Double(seconds)))
        } else {
            return nil
        }
    }

    /// The limit, if `response` refuses a request because there were too many. Otherwise `nil`.
    public static func exceeded(by response: APIResponse, now: Date = Date()) -> GitHubRateLimit? {
        guard response.isRefusal, let limit = GitHubRateLimit(response, now: now), limit.remaining == 0 else { return nil }
        return limit
    }
}

extension APIResponse {
    fileprivate var isRefusal: Bool { [403, 429].contains(statusCode) }

    fileprivate func number(of name: String) -> Int? {
        headers[name].flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
}
