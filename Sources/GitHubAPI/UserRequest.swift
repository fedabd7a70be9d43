public import APIProvider
public import Foundation

/// Asks for a user: `GET /users/{login}`, or `GET /user` for the one who is signed in.
public struct UserRequest: APIRequest {
    private let login: String?

    /// Creates a request for the user `login`; without one, for the user who is signed in.
    public init(login: String? = nil) { self.login = login }

    /// `GET /users/{login}` or `GET /user`
    public var endpoint: Endpoint<User> { Endpoint(.get, login.map { "/users/\($0)" } ?? "/user").gitHub }
}

/// A user. What GitHub documents as nullable is optional.
public struct User: Decodable, Sendable, Identifiable {
    /// GitHub's number of the account.
    public let id: Int
    /// The account's name.
    public let login: String
    /// The user's own name.
    public let name: String?
    /// What the user says of themselves.
    public let bio: String?
    /// Where the user is.
    public let location: String?
    /// The user's picture.
    public let avatarURL: URL
    /// The user's page.
    public let htmlURL: URL
    /// How many public repositories the user has.
    public let publicRepositories: Int
    /// How many people follow the user.
    public let followers: Int
    /// How many people the user follows.
    public let following: Int

    private enum CodingKeys: String, CodingKey {
        case id, login, name, bio, location, followers, following
        case avatarURL = "avatar_url"
        case htmlURL = "html_url"
        case publicRepositories = "public_repos"
    }
}
