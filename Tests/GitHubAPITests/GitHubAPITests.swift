import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("GitHub", .mockNetwork, tenMinutes)
struct GitHubAPITests {
    let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    let signIn = DefaultAPIProvider(baseURL: GitHub.oauthURL, configuration: MockURLProtocol.configuration)

    @Test("Searching asks for the keyword and the page")
    func search() async throws {
        MockURLProtocol.responseWithDTO(type: .search)
        let response = try await provider.request(SearchRequest(keyword: "swift & 한글", page: 2, perPage: 10)).value
        #expect(response.totalCount == 8)
        #expect(response.items.map(\.name).contains("reactor-counter"))
        let first = try #require(response.items.first)
        #expect(first.license?.spdxID == "MIT")
        #expect(response.items.contains { $0.description == nil && $0.license != nil })
        #expect(response.items.contains { $0.license == nil && $0.isArchived })
        let request = try #require(MockURLProtocol.requests.first)
        #expect(request.method == .get)
        #expect(request.path == "/search/repositories")
        #expect(request.queryItems.map(\.value) == ["swift & 한글", "2", "10"])
        #expect(request.headers["X-GitHub-Api-Version"] == "2022-11-28")
    }

    @Test("A user, and the one who is signed in")
    func user() async throws {
        MockURLProtocol.responseWithDTO(type: .user)
        #expect(try await provider.request(UserRequest(login: "leeari95")).value.location == "서울")
        #expect(try await provider.request(UserRequest()).value.login == "leeari95")
        #expect(MockURLProtocol.requests.map(\.path) == ["/users/leeari95", "/user"])
    }

    @Test("What a user has starred")
    func starred() async throws {
        MockURLProtocol.responseWithDTO(type: .starred)
        let repositories = try await provider.request(StarredRequest(login: "leeari95")).value
        #expect(repositories.map(\.name) == ["tide-tables", "hangul-wrap", "nap"])
        #expect(MockURLProtocol.requests.first?.path == "/users/leeari95/starred")
    }

    @Test("Starring is a PUT and unstarring a DELETE, with the names as segments")
    func star() async throws {
        MockURLProtocol.responseWithStatusCode(code: 204)
        try await provider.request(StarRequest(owner: "a/b", name: "c")).value
        try await provider.request(UnstarRequest(owner: "a/b", name: "c")).value
        #expect(MockURLProtocol.requests.map(\.method) == [.put, .delete])
        #expect(
            MockURLProtocol.requests.map { $0.url.absoluteString }
                == Array(repeating: "https://api.github.com/user/starred/a%2Fb/c", count: 2))
    }

    @Test("A code is exchanged for a token, by a form")
    func token() async throws {
        MockURLProtocol.responseWithDTO(type: .oauth)
        let token = try await signIn.request(AccessTokenRequest(clientID: "id", clientSecret: "s&t", code: "c")).value
        #expect(token.type == "bearer")
        let request = try #require(MockURLProtocol.requests.first)
        #expect(request.method == .post)
        #expect(request.url.absoluteString == "https://github.com/login/oauth/access_token")
        #expect(request.headers["Accept"] == "application/json")
        #expect(String(decoding: request.body, as: UTF8.self) == "client_id=id&client_secret=s%26t&code=c")
    }

    @Test("A status comes before GitHub's OAuth error")
    func statusFirst() async throws {
        MockURLProtocol.responseWithDTO(type: .oauthBadRequest)
        MockURLProtocol.responseWithStatusCode(code: 502)
        let error = try await #require(throws: APIError.self) {
            try await signIn.request(AccessTokenRequest(clientID: "id", clientSecret: "s", code: "c")).value
        }
        #expect(error.statusCode == 502)
    }
}
