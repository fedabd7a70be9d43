public import APIProvider

/// Searches repositories: `GET /search/repositories`.
public struct SearchRequest: APIRequest {
    private let keyword: String
    private let page: Int
    private let perPage: Int

    /// Creates a request for one page of the repositories that match `keyword`.
    ///
    /// - Parameters:
    ///   - keyword: The text to search for, in GitHub's search syntax.
    ///   - page: The page, from 1.
    ///   - perPage: The number of repositories on a page, at most 100.
    public init(keyword: String, page: Int = 1, perPage: Int = 30) {
        self.keyword = keyword
        self.page = page
        self.perPage = perPage
    }

    /// `GET /search/repositories?q=…&page=…&per_page=…`
    public var endpoint: Endpoint<SearchResponse> {
        Endpoint(.get, "/search/repositories", query: ["q": keyword, "page": page, "per_page": perPage]).gitHub
    }
}

/// One page of the repositories that a search found.
public struct SearchResponse: Decodable, Sendable {
    /// The number of repositories that match.
    public let totalCount: Int
    /// Whether the search timed out before it was complete.
    public let incompleteResults: Bool
    /// The repositories of this page.
    public let items: [Repository]

    private enum CodingKeys: String, CodingKey {
        case totalCount = "total_count"
        case incompleteResults = "incomplete_results"
        case items
    }
}
