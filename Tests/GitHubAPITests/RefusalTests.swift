import APIProvider
import Foundation
import GitHubAPI
import Testing

@Suite("A request that GitHub refuses")
struct RefusalTests {
    @Test(
        "One sentence names each field that is wrong",
        arguments: [
            (#"{"message":"Not Found","documentation_url":null,"status":"404"}"#, "Not Found"),
            (#"{"message":"No","errors":[{"resource":"Search","field":"q","code":"missing"}]}"#, "No (Search.q: missing)"),
            (#"{"message":"No","errors":[{"message":"Too long.","field":"q","code":"custom","value":null}]}"#, "No (q: Too long.)"),
            (
                #"{"message":"No","errors":[{"resource":"Issue","field":"a","code":"invalid"},{"code":"custom"},{}]}"#,
                "No (Issue.a: invalid; custom)"
            ),
            (#"{"message":"Invalid request.","errors":["Only words."]}"#, "Invalid request (Only words.)"),
            (#"{"message":"No","errors":null}"#, "No"),
        ])
    func sentence(body: String, sentence: String) throws {
        let error = try JSONDecoder().decode(GitHubError.self, from: Data(body.utf8))
        #expect(error.description == sentence)
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
        let response = APIResponse(to: PreparedRequest(.get, GitHub.apiURL), status: status, headers: HTTPHeaders(headers))
        #expect(GitHubRateLimit.exceeded(by: response, now: now)?.reset == seconds.map { now.addingTimeInterval($0) })
    }
}
