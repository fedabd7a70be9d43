public import APIProvider
public import Foundation

/// One page of a list with its rate limit, and the URL of the next page.
///
/// ```swift
/// provider.request(StarredRequest(login: "octocat").endpoint.page)
/// ```
///
/// For all pages, one after the other:
///
/// ```swift
/// provider.pages(StarredRequest(login: "octocat")).all(\.self, maxPages: 10)
/// ```
///
/// https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
public struct GitHubPage<Value: Sendable>: Sendable {
    /// The items of the page.
    public let value: Value
    /// The URL of the next page. `nil` on the last page.
    public let next: URL?
    /// The rate limit, if the response has one.
    public let rateLimit: GitHubRateLimit?
}

extension Endpoint {
    /// The endpoint with its value as a page, which adds the next page and the rate limit from the response's headers.
    public var page: Endpoint<GitHubPage<Response>> {
        withResponse().map { GitHubPage(value: $0, next: try $1.link("next"), rateLimit: GitHubRateLimit($1)) }
    }
}
