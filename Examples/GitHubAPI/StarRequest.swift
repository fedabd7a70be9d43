public import APIProvider

/// Stars a repository: `PUT /user/starred/{owner}/{name}`. GitHub answers with 204.
public struct StarRequest: APIRequest {
    private let owner: String
    private let name: String

    /// Creates a request that stars `owner/name` for the user who is signed in.
    public init(owner: String, name: String) {
        self.owner = owner
        self.name = name
    }

    /// `PUT /user/starred/{owner}/{name}`
    public var endpoint: Endpoint<Void> { Endpoint(.put, "/user/starred/\(owner)/\(name)").gitHub }
}

/// Removes the star from a repository: `DELETE /user/starred/{owner}/{name}`. GitHub answers with 204.
public struct UnstarRequest: APIRequest {
    private let owner: String
    private let name: String

    /// Creates a request that removes the star from `owner/name` for the user who is signed in.
    public init(owner: String, name: String) {
        self.owner = owner
        self.name = name
    }

    /// `DELETE /user/starred/{owner}/{name}`
    public var endpoint: Endpoint<Void> { Endpoint(.delete, "/user/starred/\(owner)/\(name)").gitHub }
}
