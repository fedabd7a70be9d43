import APIProvider
import Foundation
import GitHubAPI
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Pages")
struct GitHubPageTests {
    @Test("The next page is where the header Link says, and nowhere else than at GitHub")
    func next() throws {
        #expect(try page(link: #"<https://api.github.com/x?page=2>; rel="next""#).next?.absoluteString == "https://api.github.com/x?page=2")
        #expect(try page(link: nil).next == nil)
        #expect(throws: APIError.self) { try page(link: #"<https://evil.example/2>; rel="next""#) }
    }

    @Test("A page knows how many more requests are answered")
    func rateLimit() throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "59", "X-RateLimit-Reset": "1700000000"]
        let response = APIResponse(to: PreparedRequest(.get, GitHub.apiURL), headers: headers, data: Data("[]".utf8))
        let limit = try StarredRequest(login: "octocat").endpoint.page.value(of: response).rateLimit
        #expect(limit?.remaining == 59)
        #expect(limit?.reset == Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func page(link: String?) throws -> GitHubPage<[Repository]> {
        let request = PreparedRequest(.get, GitHub.apiURL.appendingPathComponent("items"))
        let response = APIResponse(to: request, headers: ["Link": link], data: Data("[]".utf8))
        return try StarredRequest(login: "octocat").endpoint.page.value(of: response)
    }
}
