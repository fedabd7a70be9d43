public import Foundation

/// A repository. Fields that GitHub documents as nullable are optional.
public struct Repository: Decodable, Sendable, Identifiable {
    /// The number that GitHub gives the repository.
    public let id: Int
    /// The name, without that of the owner.
    public let name: String
    /// `owner/name`
    public let fullName: String
    /// The account that owns the repository. A search may return none; then only its name is known.
    public var owner: Owner { account ?? Owner(login: String(fullName.prefix { $0 != "/" }), avatarURL: nil, htmlURL: nil) }
    private let account: Owner?
    /// The web page.
    public let htmlURL: URL
    /// The description.
    public let description: String?
    /// The language that most of the code is in.
    public let language: String?
    /// The number of people who have starred it.
    public let stargazersCount: Int
    /// The number of forks.
    public let forksCount: Int
    /// Whether it is a fork.
    public let isFork: Bool
    /// Whether it is read-only.
    public let isArchived: Bool
    /// The topics.
    public let topics: [String]?
    /// The license.
    public let license: License?

    /// The account that a repository belongs to.
    public struct Owner: Decodable, Sendable {
        /// The name.
        public let login: String
        /// The picture.
        public let avatarURL: URL?
        /// The web page.
        public let htmlURL: URL?

        private enum CodingKeys: String, CodingKey {
            case login
            case avatarURL = "avatar_url"
            case htmlURL = "html_url"
        }
    }

    /// A license.
    public struct License: Decodable, Sendable {
        /// The name.
        public let name: String
        /// The identifier in the SPDX license list. `NOASSERTION` if GitHub does not know it.
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
