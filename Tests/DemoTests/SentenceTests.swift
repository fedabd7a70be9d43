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
            (
                422, #"{"message":"Validation Failed","errors":[{"resource":"Search","field":"q","code":"missing"}]}"#,
                "GitHub refuses with 422: Validation Failed (Search.q: missing)."
            ),
            (403, #"{"message":"Forbidden\u001b[2J"}"#, "GitHub refuses with 403: Forbidden [2J."),
            (502, "<p>\u{9B}x", "GET https://api.github.com failed: 502 Bad Gateway. Body: <p> x"),
        ])
    func refusal(status: Int, body: String, sentence: String) {
        #expect(APIError.unacceptableStatus(response(status, body: body)).sentence() == sentence)
    }

    @Test(
        "A rate limit says when to try again",
        arguments: [
            ("1700000001", "in 1 second, at 2023-11-14T22:13:21Z"), ("1700000090", "in 90 seconds, at 2023-11-14T22:14:50Z"),
            ("1700000091", "in 2 minutes, at 2023-11-14T22:14:51Z"), ("1700003600", "in 60 minutes, at 2023-11-14T23:13:20Z"),
            ("1600000000", "in 1 second, at 2020-09-13T12:26:40Z"),
        ])
    func limit(reset: String, wait: String) {
        let headers = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset]
        let error = APIError.unacceptableStatus(response(403, headers: headers, body: #"{"message":"API rate limit exceeded"}"#))
        #expect(
            error.sentence(now: Date(timeIntervalSince1970: 1_700_000_000))
                == "GitHub answers no more requests for now (403); try again \(wait).")
    }

    @Test("A server that sends any number for the time ends no program", arguments: ["9223372036854775807", "-9223372036854775808"])
    func anyNumber(reset: String) {
        let headers = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset]
        #expect(APIError.unacceptableStatus(response(429, headers: headers)).sentence().contains("try again in "))
    }

    private func response(_ status: Int, headers: [String: String] = [:], body: String = "") -> APIResponse {
        guard let head = HTTPURLResponse(url: GitHub.apiURL, statusCode: status, httpVersion: nil, headerFields: headers) else {
            preconditionFailure("\(status) is a status.")
        }
        return APIResponse(request: URLRequest(url: GitHub.apiURL), response: head, data: Data(body.utf8))
    }
}
