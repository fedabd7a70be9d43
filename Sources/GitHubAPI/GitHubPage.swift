public import APIProvider
public import Foundation

/// One page of a list, and where the next one is.
///
/// ```swift
/// provider.request(StarredRequest(login: "octocat").endpoint.page)
///     .flatMap { page in page.next.map { provider.request(Endpoint<[Repository]>(.get, .url($0)).gitHub.page) } ?? .just(page) }
/// ```
///
/// https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
public struct GitHubPage<Value: Sendable>: Sendable {
    /// What the page holds.
    public let value: Value
    /// Where the next page is; `nil` after the last.
    public let next: URL?
    /// How many more requests GitHub answers, if it says so.
    public let rateLimit: GitHubRateLimit?
}

extension Endpoint {
    /// The endpoint with its value as a page: with what the header says about the next page and the rate limit.
    public var page: Endpoint<GitHubPage<Response>> {
        withResponse().map { GitHubPage(value: $0, next: $1.link("next"), rateLimit: GitHubRateLimit($1)) }
    }
}
