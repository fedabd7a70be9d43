import APIProvider
import Foundation
import GitHubAPI
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Pages")
struct GitHubPageTests {
    @Test(
        "The next page is where the header Link says (RFC 8288, section 3)",
        arguments: [
            (
                #"<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last""#,
                "https://api.github.com/x?page=2"
            ),
            (#"<https://api.github.com/1>; rel="prev",<https://api.github.com/3>;rel="next""#, "https://api.github.com/3"),
            ("<https://api.github.com/2>; rel=next", "https://api.github.com/2"),
            (#"<https://api.github.com/2>; title="a, b; rel=\"prev\""; rel="next""#, "https://api.github.com/2"),
            (#"<https://api.github.com/2?a=1,2;b>; rel="next""#, "https://api.github.com/2?a=1,2;b"),
            (#"<https://api.github.com/2>; rel="last NEXT""#, "https://api.github.com/2"),
            (#"<https://api.github.com/2>; REL = "next""#, "https://api.github.com/2"),
            (#"<?page=2>; rel="next""#, "https://api.github.com/items?page=2"),
            (#"</items?page=2>; rel="next""#, "https://api.github.com/items?page=2"),
        ])
    func next(link: String, url: String) throws {
        #expect(try page(link: link).next?.absoluteString == url)
    }

    @Test(
        "There is no next page where none is named",
        arguments: [
            nil, "", #"<https://evil.example/2>; rel="next""#, #"<http://api.github.com/2>; rel="next""#, "<javascript:x>; rel=next",
            #"<https://api.github.com/2>; rel="next"; anchor="x""#, #"<https://api.github.com/1>; rel="prev""#,
            "<https://api.github.com/1>", #"https://api.github.com/2; rel="next""#, "<https://api.github.com/2",
            #"<https://api.github.com/2>; rel="nextish""#,
            #"<https://api.github.com/2>; title="rel=next""#,
        ])
    func last(link: String?) throws {
        #expect(try page(link: link).next == nil)
    }

    @Test("A page knows how many more requests are answered")
    func rateLimit() throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "59", "X-RateLimit-Reset": "1700000000"]
        let response = APIResponse(to: URLRequest(url: GitHub.apiURL), headers: headers, data: Data("[]".utf8))
        let limit = try StarredRequest(login: "octocat").endpoint.page.value(of: response).rateLimit
        #expect(limit?.remaining == 59)
        #expect(limit?.reset == Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func page(link: String?) throws -> GitHubPage<[Repository]> {
        let request = URLRequest(url: GitHub.apiURL.appendingPathComponent("items"))
        let response = APIResponse(to: request, headers: ["Link": link], data: Data("[]".utf8))
        return try StarredRequest(login: "octocat").endpoint.page.value(of: response)
    }
}
