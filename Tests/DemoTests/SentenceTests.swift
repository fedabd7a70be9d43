import APIProvider
import Foundation
import GitHubAPI
import Testing

@testable import github_demo

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The sentences in which github-demo says what went wrong")
struct SentenceTests {
    @Test(
        "GitHub's own words, with each field that is wrong",
        arguments: [
            (404, #"{"message":"Not Found"}"#, "GitHub refuses with 404: Not Found."),
            (401, #"{"message":"Bad credentials."}"#, "GitHub refuses with 401: Bad credentials."),
            (403, #"{"message":"Forbidden\u001b[2J"}"#, "GitHub refuses with 403: Forbidden [2J."),
            (502, "<p>\u{9B}x", "GET https://api.github.com failed: 502 Bad Gateway (6 bytes)."),
        ])
    func refusal(status: Int, body: String, sentence: String) {
        #expect(APIError.unacceptableStatus(response(status, body: body)).sentence == sentence)
    }

    @Test("A rate limit says when to try again")
    func limit() {
        let headers = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000001"]
        let error = APIError.unacceptableStatus(response(403, headers: headers, body: #"{"message":"API rate limit exceeded"}"#))
        #expect(error.sentence == "GitHub answers no more requests (403); try again at 2023-11-14T22:13:21Z.")
    }

    @Test("A server that sends any number for the time ends no program", arguments: ["9223372036854775807", "-9223372036854775808"])
    func anyNumber(reset: String) {
        let headers = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset]
        #expect(APIError.unacceptableStatus(response(429, headers: headers)).sentence.contains("try again at "))
    }

    private func response(_ status: Int, headers: [String: String] = [:], body: String = "") -> APIResponse {
        guard let head = HTTPURLResponse(url: GitHub.apiURL, statusCode: status, httpVersion: nil, headerFields: headers) else {
            preconditionFailure("\(status) is a status.")
        }
        return APIResponse(request: PreparedRequest(.get, GitHub.apiURL), response: head, data: Data(body.utf8))
    }
}
