public import APIProvider
public import Foundation

/// Asks for the repositories that a user has starred: `GET /users/{login}/starred`.
public struct StarredRequest: GitHubRequest {
    /// One page of the repositories.
    public typealias Response = [Repository]

    /// Where the API is.
    public let baseURL: URL
    private let login: String
    private let page: Int
    private let perPage: Int

    /// Creates a request for one page of the repositories that `login` has starred.
    ///
    /// - Parameters:
    ///   - login: The user.
    ///   - page: The page, from 1.
    ///   - perPage: How many repositories a page has, at most 100.
    ///   - baseURL: Where the API is.
    public init(login: String, page: Int = 1, perPage: Int = 30, baseURL: URL = GitHub.apiURL) {
        self.login = login
        self.page = page
        self.perPage = perPage
        self.baseURL = baseURL
    }

    /// `/users/{login}/starred`
    public var path: RequestPath { "/users/\(login)/starred" }
    /// The page.
    public var query: QueryParameters { ["page": page, "per_page": perPage] }
}
