public import APIProvider
public import Foundation

/// Stars a repository: `PUT /user/starred/{owner}/{name}`, which is answered with 204.
public struct StarRequest: GitHubRequest {
    /// Nothing comes back.
    public typealias Response = Void

    /// Where the API is.
    public let baseURL: URL
    private let owner: String
    private let name: String

    /// Creates a request that stars `owner/name` for the user who is signed in.
    public init(owner: String, name: String, baseURL: URL = GitHub.apiURL) {
        self.owner = owner
        self.name = name
        self.baseURL = baseURL
    }

    /// `PUT`
    public var method: HTTPMethod { .put }
    /// `/user/starred/{owner}/{name}`
    public var path: RequestPath { "/user/starred/\(owner)/\(name)" }
}

/// Takes the star from a repository: `DELETE /user/starred/{owner}/{name}`, which is answered with 204.
public struct UnstarRequest: GitHubRequest {
    /// Nothing comes back.
    public typealias Response = Void

    private let star: StarRequest

    /// Creates a request that takes the star of the user who is signed in from `owner/name`.
    public init(owner: String, name: String, baseURL: URL = GitHub.apiURL) {
        star = StarRequest(owner: owner, name: name, baseURL: baseURL)
    }

    /// Where the API is.
    public var baseURL: URL { star.baseURL }
    /// `DELETE`
    public var method: HTTPMethod { .delete }
    /// `/user/starred/{owner}/{name}`
    public var path: RequestPath { star.path }
}
