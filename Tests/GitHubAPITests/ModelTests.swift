import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MockNetwork
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What GitHub documents (https://docs.github.com/rest): which fields of an answer may be null, and which may be missing.
@Suite("Models take what GitHub really sends")
struct ModelTests {
    @Test("A repository with a field that is null, or without one that is not promised")
    func repository() throws {
        for field in ["owner", "description", "homepage", "language", "mirror_url", "license", "master_branch"] {
            #expect(try decode(Repository.self, first(.search).setting(field, to: NSNull())).owner.login == "leeari95", "\(field)")
        }
        for field in ["topics", "license", "language", "description", "text_matches", "temp_clone_token", "permissions"] {
            #expect(try decode(Repository.self, first(.search).setting(field, to: nil)).name == "ACNH-wiki", "\(field)")
        }
    }

    @Test("A license that GitHub does not know has no identifier")
    func license() throws {
        let license: [String: Any] = ["key": "other", "name": "Other", "spdx_id": NSNull(), "url": NSNull(), "node_id": "x"]
        let repository = try decode(Repository.self, first(.search).setting("license", to: license))
        #expect(repository.license?.name == "Other")
        #expect(repository.license?.spdxID == nil)
    }

    @Test("A repository whose owner is not sent has the owner's name, and no more")
    func owner() throws {
        let repository = try decode(Repository.self, first(.search).setting("owner", to: NSNull()))
        #expect(repository.owner.login == "leeari95")
        #expect(repository.owner.avatarURL == nil)
    }

    @Test("A user with a field that is null, or without one that only the user gets to see")
    func user() throws {
        let nullable = [
            "name", "company", "blog", "location", "email", "notification_email", "hireable", "bio", "twitter_username", "gravatar_id",
            "suspended_at",
        ]
        for field in nullable {
            #expect(try decode(User.self, object(.user).setting(field, to: NSNull())).login == "leeari95", "\(field)")
        }
        let own = ["plan", "two_factor_authentication", "private_gists", "total_private_repos", "disk_usage", "user_view_type", "email"]
        for field in own {
            #expect(try decode(User.self, object(.user).setting(field, to: nil)).login == "leeari95", "\(field)")
        }
    }

    @Test("Fields that nobody knew of do no harm")
    func unknown() throws {
        let news: [String: Any] = ["nested": [1, "two", NSNull()]]
        #expect(try decode(Repository.self, first(.starred).setting("news", to: news)).name == "tide-tables")
        #expect(try decode(User.self, object(.user).setting("news", to: news)).login == "leeari95")
        #expect(try decode(AccessToken.self, object(.oauth).setting("news", to: news)).type == "bearer")
        #expect(try decode(GitHubOAuthError.self, object(.oauthBadRequest).setting("news", to: news)).code == .badVerificationCode)
        #expect(try decode(GitHubError.self, ["message": "m", "news": news]).message == "m")
    }

    @Test("An OAuth error has a sentence, also without a description, and a code that nobody knew of")
    func oauthError() throws {
        #expect(try decode(GitHubOAuthError.self, object(.oauthBadRequest)).description == "The code passed is incorrect or expired.")
        let error = try decode(GitHubOAuthError.self, ["error": "slow_down"])
        #expect(error.description == "GitHub gives no access token: slow_down.")
    }

    @Test("A token and what it is asked for with show in no description and no dump")
    func secrets() throws {
        let token = try decode(AccessToken.self, ["access_token": "gho_1", "scope": "repo", "token_type": "bearer"])
        let request = AccessTokenRequest(clientID: "id", clientSecret: "s3cret", code: "c0de")
        var text = "\(token) \(request) \(String(reflecting: token)) \(String(reflecting: request))"
        dump((token, request), to: &text)
        #expect(text.contains("AccessToken(bearer: repo)"))
        for secret in ["gho_1", "s3cret", "c0de"] { #expect(!text.contains(secret)) }
    }

    private func decode<T: Decodable>(_ type: T.Type, _ object: [String: Any]) throws -> T {
        try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }

    private func json(_ type: MockURLProtocol.MockDTOType) throws -> Any {
        let url = MockURLProtocol.MockDTOType.bundle.url(
            forResource: "\(type.fileName).json", withExtension: nil, subdirectory: MockURLProtocol.MockDTOType.subdirectory)
        return try JSONSerialization.jsonObject(with: Data(contentsOf: #require(url)))
    }

    private func object(_ type: MockURLProtocol.MockDTOType) throws -> [String: Any] { try #require(json(type) as? [String: Any]) }

    /// The first repository.
    private func first(_ type: MockURLProtocol.MockDTOType) throws -> [String: Any] {
        let json = try json(type)
        let items = (json as? [String: Any])?["items"] ?? json
        return try #require((items as? [[String: Any]])?.first)
    }
}

extension [String: Any] {
    fileprivate func setting(_ name: String, to value: Any?) -> [String: Any] {
        var copy = self
        copy[name] = value
        return copy
    }
}
