public import APIProvider
public import Foundation

/// Asks for a user: `GET /users/{login}`, or `GET /user` for the user who is signed in.
public struct UserRequest: APIRequest {
    private let login: String?

    /// Creates a request for the user `login`, or for the user who is signed in if `login` is `nil`.
    public init(login: String? = nil) { self.login = login }

    /// `GET /users/{login}` or `GET /user`
    public var endpoint: Endpoint<User> { Endpoint(.get, login.map { "/users/\($0)" } ?? "/user").gitHub }
}

/// A user. Fields that GitHub documents as nullable are optional.
public struct User: Decodable, Sendable, Identifiable {
    /// The number that GitHub gives the account.
    public let id: Int
    /// The name of the account.
    public let login: String
    /// The name of the person.
    public let name: String?
    /// The biography.
    public let bio: String?
    /// The location.
    public let location: String?
    /// The user's picture.
    public let avatarURL: URL
    /// The user's page.
    public let htmlURL: URL
    /// The number of public repositories.
    public let publicRepositories: Int
    /// The number of people who follow the user.
    public let followers: Int
    /// The number of people whom the user follows.
    public let following: Int

    private enum CodingKeys: String, CodingKey {
        case id, login, name, bio, location, followers, following
        case avatarURL = "avatar_url"
        case htmlURL = "html_url"
        case publicRepositories = "public_repos"
    }
}
