public import APIProvider
public import Foundation

/// GitHub refuses a request because there were too many: `GitHubRateLimit(response)` of a status error.
///
/// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
public struct GitHubRateLimit: Sendable, Hashable {
    /// From when on requests are answered again.
    public let reset: Date

    /// `nil` if the response is anything else than a refusal with a 403 or a 429 for too many requests.
    ///
    /// - Parameters:
    ///   - response: What GitHub has answered.
    ///   - now: When that came. `Retry-After` counts from then.
    public init?(_ response: APIResponse, now: Date = Date()) {
        guard response.statusCode == 403 || response.statusCode == 429 else { return nil }
        if let seconds = response.seconds(of: "Retry-After") {
            reset = now.addingTimeInterval(seconds)
        } else if response.seconds(of: "X-RateLimit-Remaining") == 0, let seconds = response.seconds(of: "X-RateLimit-Reset") {
            reset = Date(timeIntervalSince1970: seconds)
        } else {
            return nil
        }
    }
}

extension APIResponse {
    fileprivate func seconds(of name: String) -> Double? {
        // By way of Int, since Double also reads "nan" and "inf".
        value(forHTTPHeaderField: name).flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }.map(Double.init)
    }
}
