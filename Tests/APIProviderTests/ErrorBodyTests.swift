import APIProvider
import Foundation
import TestSupport
import Testing

/// Each is what its reader needs to know what to do.
@Suite("What an error shows of the bodies of well-known servers")
struct ErrorBodyTests {
    @Test(
        arguments: [
            (
                "401 of GitHub", 401, #"{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}"#,
                #"401 Unauthorized. Body: {"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}"#
            ),
            (
                "401 of Stripe", 401,
                """
                {
                  "error": {
                    "message": "Invalid API Key provided: sk_live_4eC39HqLyjWDarjtT1zdp7dc",
                    "type": "invalid_request_error"
                  }
                }
                """,
                #"401 Unauthorized. Body: {"error":{"message":"Invalid API Key provided: …","type":"invalid_request_error"}}"#
            ),
            (
                "422 of Rails", 422,
                #"{"errors":{"email":["has already been taken"],"password":["is too short (minimum is 8 characters)"]}}"#,
                #"422 Unprocessable Content. Body: {"errors":{"email":["has already been taken"],"#
                    + #""password":["is too short (minimum is 8 characters)"]}}"#
            ),
            (
                "error of Spring", 400,
                #"{"timestamp":"2026-11-22T10:15:30.123+00:00","status":400,"error":"Bad Request","#
                    + #""message":"Required request parameter 'size' is not present","path":"/v1/items","trace":"org.a.B: C\n\tat d.E(F.java:7)"}"#,
                #"400 Bad Request. Body: {"timestamp":"…","status":400,"error":"Bad Request","#
                    + #""message":"Required request parameter 'size' is not present","path":"/v1/items","trace":"…"}"#
            ),
            (
                "problem of RFC 9457", 403,
                #"{"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","#
                    + #""detail":"Your current balance is 30, but that costs 50.","balance":30,"accounts":["/account/12345"]}"#,
                #"403 Forbidden. Body: {"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","#
                    + #""detail":"Your current balance is 30, but that costs 50.","balance":…,"accounts":["…"]}"#
            ),
            (
                "error of GraphQL", 400,
                #"{"errors":[{"message":"Cannot query field \"nmae\" on type \"User\".","locations":[{"line":3,"column":5}],"#
                    + #""path":["user"],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null}"#,
                #"400 Bad Request. Body: {"errors":[{"message":"Cannot query field \"nmae\" on type \"User\".","#
                    + #""locations":[{"line":3,"column":5}],"path":["user"],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null}"#
            ),
            (
                "error of OAuth", 400,
                #"{"error":"invalid_grant","error_description":"The authorization grant is expired or revoked.","#
                    + #""error_uri":"https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"}"#,
                #"400 Bad Request. Body: {"error":"invalid_grant","error_description":"The authorization grant is expired or revoked.","#
                    + #""error_uri":"https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"}"#
            ),
            (
                "422 of FastAPI", 422,
                #"{"detail":[{"type":"string_too_short","loc":["body","password"],"msg":"String should have at least 8 characters","#
                    + #""input":"hunter2","ctx":{"min_length":8}}]}"#,
                #"422 Unprocessable Content. Body: {"detail":[{"type":"string_too_short","loc":["body","password"],"#
                    + #""msg":"String should have at least 8 characters","input":"…","ctx":{"min_length":…}}]}"#
            ),
        ])
    func sentence(of server: String, status: Int, body: String, shown: String) throws {
        let request = URLRequest(url: try #require(URL(string: "https://api.example.com/v1/items?page=2")))
        let response = APIResponse(to: request, status: status, headers: ["Content-Type": "application/json"], data: Data(body.utf8))
        #expect("\(APIError.unacceptableStatus(response))" == "GET https://api.example.com/v1/items?page=… failed: \(shown)")
    }
}
