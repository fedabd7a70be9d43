import APIProvider
import APIProviderMocks
import Fixtures
import Foundation
import GitHubAPI
import Testing

/// GitHub documents which fields of an answer may be null or missing: https://docs.github.com/rest
@Suite("Models accept what GitHub sends")
struct ModelTests {
    @Test("Documented fields may be null or missing, and new fields are ignored")
    func fields() throws {
        let news: [String: Any] = ["nested": [1, "two", NSNull()]]
        for (field, value) in [
            ("owner", NSNull()), ("description", NSNull()), ("homepage", NSNull()), ("language", NSNull()), ("mirror_url", NSNull()),
            ("license", NSNull()), ("license", ["key": "other", "name": "Other", "spdx_id": NSNull()]), ("topics", nil), ("license", nil),
            ("language", nil), ("description", nil), ("permissions", nil),
            ("news", news),
        ] as [(String, Any?)] {
            let repository = try decode(Repository.self, repository, field, value)
            #expect(repository.owner.login == "leeari95", "\(field)")
        }
        for (field, value) in [
            ("name", NSNull()), ("company", NSNull()), ("blog", NSNull()), ("location", NSNull()), ("email", NSNull()), ("bio", NSNull()),
            ("twitter_username", NSNull()), ("hireable", NSNull()), ("plan", nil), ("private_gists", nil), ("email", nil), ("news", news),
        ] as [(String, Any?)] {
            #expect(try decode(User.self, object(.user), field, value).login == "leeari95", "\(field)")
        }
    }

    @Test("An OAuth error has a sentence, even without a description and with an unknown code")
    func oauthError() throws {
        #expect(try decode(GitHubOAuthError.self, object(.oauthBadRequest)).description == "The code passed is incorrect or expired.")
        #expect(try decode(GitHubOAuthError.self, ["error": "slow_down"]).description.contains("slow_down"))
        #expect(try decode(GitHubOAuthError.self, ["error": "slow_down"]).localizedDescription == "GitHub has not signed you in.")
    }

    @Test(
        "The error of a refused request names each field that is wrong to the developer, and has GitHub's words for people",
        arguments: [
            (#"{"message":"Not Found","documentation_url":null,"status":"404"}"#, "Not Found", "Not Found."),
            (#"{"message":"No","errors":[{"resource":"Search","field":"q","code":"missing"}]}"#, "No (Search.q: missing)", "No."),
            (
                #"{"message":"No","errors":[{"message":"Too long.","field":"q","code":"custom","value":null}]}"#, "No (q: Too long.)",
                "Too long."
            ),
            (
                #"{"message":"No","errors":[{"resource":"A","field":"a","code":"invalid"},{"code":"custom"},{}]}"#,
                "No (A.a: invalid; custom)", "No."
            ),
            (#"{"message":"Invalid request.","errors":["Only words."]}"#, "Invalid request (Only words.)", "Only words."),
            (#"{"message":"No","errors":null}"#, "No", "No."),
        ])
    func sentence(body: String, description: String, sentence: String) throws {
        let error = try JSONDecoder().decode(GitHubError.self, from: Data(body.utf8))
        #expect(error.description == description)
        #expect(error.localizedDescription == sentence)
    }

    @Test(
        "A rate limit says when it ends, and any other refusal is no rate limit",
        arguments: [
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 600),
            (429, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 600),
            // The secondary limit.
            (403, ["Retry-After": "60", "X-RateLimit-Remaining": "17"], 60),
            (429, ["Retry-After": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 60),
            (403, ["X-RateLimit-Remaining": "17", "X-RateLimit-Reset": "1700000600"], nil),
            (403, ["X-RateLimit-Remaining": "0"], nil),
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"], nil),
            (429, ["Retry-After": "nan"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], nil),
        ] as [(Int, [String: String], Double?)])
    func limit(status: Int, headers: [String: String], seconds: Double?) {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let response = APIResponse(to: PreparedRequest(.get, GitHub.apiURL), statusCode: status, headers: HTTPHeaders(headers))
        #expect(GitHubRateLimit.exceeded(by: response, now: now)?.reset == seconds.map { now.addingTimeInterval($0) })
    }

    @Test("Descriptions and dumps show no token, no secret and no code")
    func secrets() throws {
        let token = try decode(AccessToken.self, ["access_token": "gho_1", "scope": "repo", "token_type": "bearer"])
        let request = AccessTokenRequest(clientID: "id", clientSecret: "s3cret", code: "c0de")
        var text = "\(token) \(request) \(String(reflecting: token)) \(String(reflecting: request))"
        dump((token, request), to: &text)
        #expect(text.contains("AccessToken(bearer: repo)"))
        for secret in ["gho_1", "s3cret", "c0de"] { #expect(!text.contains(secret)) }
    }

    /// Decodes `object` with another value for `field`. With `nil`, the field is missing.
    private func decode<T: Decodable>(_ type: T.Type, _ object: [String: Any], _ field: String = "", _ value: Any? = nil) throws -> T {
        var object = object
        object[field] = value
        return try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }

    private func object(_ type: MockURLProtocol.MockDTOType) throws -> [String: Any] {
        let url = try #require(
            MockURLProtocol.MockDTOType.bundle.url(
                forResource: "\(type.fileName).json", withExtension: nil, subdirectory: MockURLProtocol.MockDTOType.subdirectory))
        return try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    }

    private var repository: [String: Any] {
        get throws { try #require((object(.search)["items"] as? [[String: Any]])?.first) }
    }
}
