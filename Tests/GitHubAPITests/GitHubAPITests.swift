import APIProvider
import APIProviderMocks
import APIProviderTesting
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import TestSupport
import Testing

@Suite("GitHub", .mockNetwork, tenMinutes)
struct GitHubAPITests {
    private let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, transport: MockTransport())
    private let signIn = DefaultAPIProvider(baseURL: GitHub.oauthURL, transport: MockTransport())
    private let token = AccessTokenRequest(clientID: "id", clientSecret: "s&t", code: "c")

    @Test("Requests have the methods, URLs and headers that GitHub documents")
    func requests() throws {
        for (method, url, request) in try [
            (.get, "/search/repositories?q=a%26b&page=2&per_page=10", prepared(SearchRequest(keyword: "a&b", page: 2, perPage: 10))),
            (.get, "/users/octocat", prepared(UserRequest(login: "octocat"))),
            (.get, "/user", prepared(UserRequest())),
            (.get, "/users/octocat/starred", prepared(StarredRequest(login: "octocat"))),
            (.put, "/user/starred/a%2Fb/c", prepared(StarRequest(owner: "a/b", name: "c"))),
            (.delete, "/user/starred/a%2Fb/c", prepared(UnstarRequest(owner: "a/b", name: "c"))),
        ] as [(HTTPMethod, String, PreparedRequest)] {
            #expect(request.method == method)
            #expect(request.url.absoluteString.hasPrefix("https://api.github.com" + url))
            #expect(request.headers["X-GitHub-Api-Version"] == "2022-11-28")
        }
    }

    @Test("The fixtures are decoded")
    func fixtures() async throws {
        MockURLProtocol.stub(.get, "/search/*", respond: .fixture(MockURLProtocol.MockDTOType.search))
        MockURLProtocol.stub(.get, "/user", respond: .fixture(MockURLProtocol.MockDTOType.user))
        MockURLProtocol.stub(.get, "/users/*/starred", respond: .fixture(MockURLProtocol.MockDTOType.starred))
        let found = try await provider.request(SearchRequest(keyword: "swift")).value
        #expect(found.totalCount == 8)
        #expect(found.items.first?.license?.spdxID == "MIT")
        #expect(found.items.contains { $0.license == nil && $0.isArchived })
        #expect(try await provider.request(UserRequest()).value.location == "서울")
        #expect(try await provider.request(StarredRequest(login: "a")).value.map(\.name) == ["tide-tables", "hangul-wrap", "nap"])
    }

    @Test("A code is exchanged for a token, by a form")
    func accessToken() async throws {
        MockURLProtocol.stub(
            .post, "https://github.com/login/oauth/access_token", headers: ["Accept": "application/json"],
            body: .form(["client_id": "id", "client_secret": "s&t", "code": "c"]),
            respond: .fixture(MockURLProtocol.MockDTOType.oauth))
        #expect(try await signIn.request(token).value.type == "bearer")
    }

    @Test(
        "An OAuth error is a failure, though its status is 200",
        arguments: [
            (MockURLProtocol.MockDTOType.oauthBadRequest, GitHubOAuthError.Code.badVerificationCode),
            (.oauthRedirectURLMismatch, .redirectURIMismatch),
            (.oauthIncorrectClientCredentials, .incorrectClientCredentials),
        ])
    func oauthError(fixture: MockURLProtocol.MockDTOType, code: GitHubOAuthError.Code) async throws {
        MockURLProtocol.stub(token, respond: .sequence([.fixture(fixture), .fixture(fixture, statusCode: 502)]))
        let error = await #expect(throws: GitHubOAuthError.self) { try await signIn.request(token).value }
        #expect(error?.code == code)
        // A status comes first.
        let status = await #expect(throws: APIError.self) { try await signIn.request(token).value }
        #expect(status?.statusCode == 502)
    }

    @Test("A page has the next one, if the header Link leads to GitHub, and the rate limit")
    func page() throws {
        let limited = try page(["X-RateLimit-Remaining": "59", "X-RateLimit-Reset": "1700000000"])
        #expect(limited.next == nil)
        #expect(limited.rateLimit?.remaining == 59)
        #expect(limited.rateLimit?.reset == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try page(["Link": #"<https://api.github.com/x?page=2>; rel="next""#]).next?.query == "page=2")
        #expect(throws: APIError.self) { try page(["Link": #"<https://evil.example/2>; rel="next""#]) }
    }

    private func prepared(_ request: some APIRequest) throws -> PreparedRequest {
        try request.endpoint.preparedRequest(relativeTo: GitHub.apiURL)
    }

    private func page(_ headers: HTTPHeaders) throws -> GitHubPage<[Repository]> {
        let response = APIResponse(to: PreparedRequest(.get, GitHub.apiURL), headers: headers, data: Data("[]".utf8))
        return try StarredRequest(login: "octocat").endpoint.page.value(of: response)
    }
}
