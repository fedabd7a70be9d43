import APIProvider
import Foundation
import Testing

@testable import GitHubSearch

@Suite struct SearchRequestTests {
    @Test func asksForTheKeyword() throws {
        let request = SearchRequest(keyword: "swift & rx")
        let sent = try request.endpoint.preparedRequest(relativeTo: GitHub.url)
        #expect(
            sent.url.absoluteString
                == "https://api.github.com/search/repositories?q=swift%20%26%20rx")
    }
}
