public import Foundation

/// A repository. What GitHub documents as nullable is optional.
public struct Repository: Decodable, Sendable, Identifiable {
    /// GitHub's number of it.
    public let id: Int
    /// Its name, without its owner's.
    public let name: String
    /// `owner/name`
    public let fullName: String
    /// The account that it belongs to. Where GitHub sends none, as it may in a search, only the name is known.
    public var owner: Owner { account ?? Owner(login: String(fullName.prefix { $0 != "/" }), avatarURL: nil, htmlURL: nil) }
    private let account: Owner?
    /// Its page.
    public let htmlURL: URL
    /// What its owner says of it.
    public let description: String?
    /// The language of most of its code.
    public let language: String?
    /// How many people have starred it.
    public let stargazersCount: Int
    /// How many forks of it there are.
    public let forksCount: Int
    /// Whether it is a fork.
    public let isFork: Bool
    /// Whether it is read-only.
    public let isArchived: Bool
    /// Its topics.
    public let topics: [String]?
    /// Its license.
    public let license: License?

    /// The account that a repository belongs to.
    public struct Owner: Decodable, Sendable {
        /// The account's name.
        public let login: String
        /// Its picture.
        public let avatarURL: URL?
        /// Its page.
        public let htmlURL: URL?

        private enum CodingKeys: String, CodingKey {
            case login
            case avatarURL = "avatar_url"
            case htmlURL = "html_url"
        }
    }

    /// A license.
    public struct License: Decodable, Sendable {
        /// Its name.
        public let name: String
        /// Its identifier in the SPDX license list; `NOASSERTION` where GitHub does not know it.
        public let spdxID: String?

        private enum CodingKeys: String, CodingKey {
            case name
            case spdxID = "spdx_id"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, description, language, topics, license
        case account = "owner"
        case fullName = "full_name"
        case htmlURL = "html_url"
        case stargazersCount = "stargazers_count"
        case forksCount = "forks_count"
        case isFork = "fork"
        case isArchived = "archived"
    }
}
