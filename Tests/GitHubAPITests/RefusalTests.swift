import APIProvider
import Foundation
import GitHubAPI
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What GitHub says of a request that it refuses")
struct RefusalTests {
    @Test(
        "One sentence names each field that is wrong",
        arguments: [
            (#"{"message":"Not Found","documentation_url":null,"status":"404"}"#, "Not Found"),
            (
                #"{"message":"Validation Failed","errors":[{"resource":"Search","field":"q","code":"missing"}]}"#,
                "Validation Failed (Search.q: missing)"
            ),
            (
                #"{"message":"Validation Failed","errors":[{"message":"Too long.","field":"q","code":"custom","value":null,"index":3}]}"#,
                "Validation Failed (q: Too long.)"
            ),
            (
                #"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"a","code":"invalid"},{"code":"custom"},{}]}"#,
                "Validation Failed (Issue.a: invalid; custom)"
            ),
            (#"{"message":"Invalid request.","errors":["Only words."]}"#, "Invalid request (Only words.)"),
            (#"{"message":"Validation Failed","errors":[]}"#, "Validation Failed"),
            (#"{"message":"Validation Failed","errors":null}"#, "Validation Failed"),
        ])
    func sentence(body: String, sentence: String) throws {
        let error = try response(422, body: body).decode(GitHubError.self)
        #expect(error.description == sentence)
        #expect(error.localizedDescription == sentence)
    }

    @Test(
        "A rate limit says when it ends",
        arguments: [
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 600.0),
            (429, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 600.0),
            // The secondary limit.
            (403, ["Retry-After": "60", "X-RateLimit-Remaining": "17"], 60.0),
            (429, ["Retry-After": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"], 60.0),
        ])
    func limit(status: Int, headers: [String: String], seconds: Double) throws {
        #expect(GitHubRateLimit.exceeded(by: response(status, headers: headers), now: now)?.reset == now.addingTimeInterval(seconds))
    }

    @Test(
        "Any other refusal is no rate limit",
        arguments: [
            (403, [:]),
            (403, ["X-RateLimit-Remaining": "17", "X-RateLimit-Reset": "1700000600"]),
            (403, ["X-RateLimit-Remaining": "0"]),
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"]),
            (429, ["Retry-After": "nan"]),
            (404, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000600"]),
        ])
    func noLimit(status: Int, headers: [String: String]) {
        #expect(GitHubRateLimit.exceeded(by: response(status, headers: headers), now: now) == nil)
    }

    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func response(_ status: Int, headers: [String: String] = [:], body: String = "") -> APIResponse {
        APIResponse(to: PreparedRequest(.get, GitHub.apiURL), status: status, headers: HTTPHeaders(headers), data: Data(body.utf8))
    }
}
