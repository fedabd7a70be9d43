public import APIProvider

/// Asks for the repositories that a user has starred: `GET /users/{login}/starred`.
public struct StarredRequest: APIRequest {
    private let login: String
    private let page: Int
    private let perPage: Int

    /// Creates a request for one page of the repositories that `login` has starred.
    ///
    /// - Parameters:
    ///   - login: The user.
    ///   - page: The page, from 1.
    ///   - perPage: The number of repositories on a page, at most 100.
    public init(login: String, page: Int = 1, perPage: Int = 30) {
        self.login = login
        self.page = page
        self.perPage = perPage
    }

    /// `GET /users/{login}/starred?page=…&per_page=…`
    public var endpoint: Endpoint<[Repository]> {
        Endpoint(.get, "/users/\(login)/starred", query: ["page": page, "per_page": perPage]).gitHub
    }
}
