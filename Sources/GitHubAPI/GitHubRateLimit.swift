public import APIProvider
public import Foundation

/// How many requests GitHub still answers, as the header of a response says.
///
/// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
public struct GitHubRateLimit: Sendable, Hashable {
    /// How many requests are left until ``reset``.
    public let remaining: Int
    /// From when on there are more.
    public let reset: Date

    /// Reads the header of `response`. It is `nil` if the header says nothing about a limit.
    ///
    /// A refusal with a `Retry-After`, as GitHub answers to many requests at once, leaves none until then.
    ///
    /// - Parameters:
    ///   - response: A response of GitHub.
    ///   - now: When it came. `Retry-After` counts from then.
    public init?(_ response: APIResponse, now: Date = Date()) {
        if response.isRefusal, let seconds = response.number(of: "Retry-After") {
            (remaining, reset) = (0, now.addingTimeInterval(Double(seconds)))
        } else if let count = response.number(of: "X-RateLimit-Remaining"), let seconds = response.number(of: "X-RateLimit-Reset") {
            (remaining, reset) = (count, Date(timeIntervalSince1970: Double(seconds)))
        } else {
            return nil
        }
    }

    /// The limit that `response` was refused for. It is `nil` if the response is anything else than a refusal for too many requests.
    public static func exceeded(by response: APIResponse, now: Date = Date()) -> GitHubRateLimit? {
        guard response.isRefusal, let limit = GitHubRateLimit(response, now: now), limit.remaining == 0 else { return nil }
        return limit
    }
}

extension APIResponse {
    fileprivate var isRefusal: Bool { [403, 429].contains(statusCode) }

    fileprivate func number(of name: String) -> Int? {
        value(forHTTPHeaderField: name).flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
}
