import APIProvider
import Foundation
import TestSupport
import Testing

/// Each is what its reader needs to know what to do.
@Suite("What an error shows of the bodies of well-known servers")
struct ErrorBodyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let server: String
        let status: Int
        var type = "application/json"
        let body: String
        /// The sentence behind the URL, without the type and the size of the body.
        let shown: String
        var testDescription: String { server }
    }

    private static let rows = [
        Row(
            server: "GitHub, 401", status: 401,
            body: #"{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}"#,
            shown: #"401 Unauthorized: "Bad credentials""#),
        Row(
            server: "GitHub, 422", status: 422,
            body: #"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}],"#
                + #""documentation_url":"https://docs.github.com/rest/issues/issues#create-an-issue","status":"422"}"#,
            shown: #"422 Unprocessable Content: "Validation Failed""#),
        Row(
            server: "Stripe, 401", status: 401,
            body: """
                {
                  "error": {
                    "message": "Invalid API Key provided: sk_live_4eC39HqLyjWDarjtT1zdp7dc",
                    "type": "invalid_request_error"
                  }
                }
                """,
            shown: #"401 Unauthorized: "Invalid API Key provided: …""#),
        Row(
            server: "Stripe, 402", status: 402,
            body: #"{"error":{"code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","#
                + #""doc_url":"https://stripe.com/docs/error-codes/card-declined","type":"card_error"}}"#,
            shown: #"402 Payment Required: "Your card was declined.""#),
        Row(
            server: "Google", status: 403,
            body: #"{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED","#
                + #""details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"IAM_PERMISSION_DENIED"}]}}"#,
            shown: #"403 Forbidden: "The caller does not have permission""#),
        Row(
            server: "AWS, JSON", status: 400, type: "application/x-amz-json-1.0",
            body: #"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","#
                + #""message":"Requested resource not found: Table: orders-2026 not found"}"#,
            shown: #"400 Bad Request: "Requested resource not found: Table: … not found""#),
        Row(
            server: "AWS, XML", status: 404, type: "application/xml",
            body: #"<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code><Key>a.png</Key></Error>"#,
            shown: "404 Not Found"),
        Row(
            server: "FastAPI, 404", status: 404, body: #"{"detail":"Item not found"}"#, shown: #"404 Not Found: "Item not found""#),
        Row(
            server: "FastAPI, 422", status: 422,
            body: #"{"detail":[{"type":"string_too_short","loc":["body","password"],"msg":"String should have at least 8 characters","#
                + #""input":"hunter2","ctx":{"min_length":8}}]}"#,
            shown: "422 Unprocessable Content"),
        Row(
            server: "Rails, errors of attributes", status: 422,
            body: #"{"errors":{"password":["is too short (minimum is 8 characters)"],"email":["has already been taken"]}}"#,
            shown: #"422 Unprocessable Content: "has already been taken""#),
        Row(
            server: "Rails, full messages", status: 422, body: #"{"errors":["Name can't be blank","Size is not a number"]}"#,
            shown: #"422 Unprocessable Content: "Name can't be blank""#),
        Row(
            server: "Rails, 500", status: 500, body: #"{"status":500,"error":"Internal Server Error"}"#,
            shown: #"500 Internal Server Error: "Internal Server Error""#),
        Row(
            server: "Laravel", status: 422,
            body: #"{"message":"The email field is required. (and 1 more error)","#
                + #""errors":{"email":["The email field is required."],"name":["The name field is required."]}}"#,
            shown: #"422 Unprocessable Content: "The email field is required. (and 1 more error)""#),
        Row(
            server: "Laravel, its errors alone", status: 422,
            body: #"{"errors":{"code":42,"email":[],"name":["The name field is required."]}}"#,
            shown: #"422 Unprocessable Content: "The name field is required.""#),
        Row(
            server: "Spring, 400", status: 400,
            body: #"{"timestamp":"2026-11-22T10:15:30.123+00:00","status":400,"error":"Bad Request","#
                + #""message":"Required request parameter 'size' is not present","path":"/v1/items","trace":"org.a.B: C\n\tat d.E(F.java:7)"}"#,
            shown: #"400 Bad Request: "Required request parameter 'size' is not present""#),
        Row(
            server: "Spring, no message", status: 404,
            body: #"{"timestamp":"2026-11-22T10:15:30.123+00:00","status":404,"error":"Not Found","message":"","path":"/v1/items"}"#,
            shown: #"404 Not Found: "Not Found""#),
        Row(
            server: "ASP.NET", status: 400, type: "application/problem+json",
            body: #"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"One or more validation errors occurred.","#
                + #""status":400,"errors":{"Name":["The Name field is required."]},"traceId":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}"#,
            shown: #"400 Bad Request: "One or more validation errors occurred.""#),
        Row(
            server: "GraphQL", status: 400, type: "application/graphql-response+json",
            body: #"{"errors":[{"message":"Cannot query field \"nmae\" on type \"User\".","locations":[{"line":3,"column":5}],"#
                + #""path":["user"],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null}"#,
            shown: #"400 Bad Request: "Cannot query field "nmae" on type "User".""#),
        Row(
            server: "OAuth", status: 400,
            body: #"{"error":"invalid_grant","error_description":"The authorization grant is expired or revoked.","#
                + #""error_uri":"https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"}"#,
            shown: #"400 Bad Request: "The authorization grant is expired or revoked.""#),
        Row(server: "OAuth, code alone", status: 400, body: #"{"error":"invalid_grant"}"#, shown: #"400 Bad Request: "invalid_grant""#),
        Row(
            server: "RFC 9457", status: 403, type: "application/problem+json",
            body: #"{"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","#
                + #""detail":"Your current balance is 30, but that costs 50.","balance":30,"accounts":["/account/12345"]}"#,
            shown: #"403 Forbidden: "Your current balance is 30, but that costs 50.""#),
        Row(
            server: "JSON:API", status: 422, type: "application/vnd.api+json",
            body: #"{"errors":[{"status":"422","source":{"pointer":"/data/attributes/firstName"},"title":"Invalid Attribute","#
                + #""detail":"First name must contain at least two characters."}]}"#,
            shown: #"422 Unprocessable Content: "First name must contain at least two characters.""#),
        Row(
            server: "NestJS", status: 400, body: #"{"statusCode":400,"message":["name must be a string"],"error":"Bad Request"}"#,
            shown: #"400 Bad Request: "name must be a string""#),
        Row(server: "Go", status: 404, type: "text/plain", body: "404 page not found\n", shown: #"404 Not Found: "404 page not found""#),
        Row(
            server: "nginx", status: 502, type: "text/html", body: "<html><h1>502 Bad Gateway</h1></html>\n", shown: "502 Bad Gateway"),
    ]

    @Test("The sentence has the status, the server's words, the type and the size", arguments: rows)
    func sentence(row: Row) throws {
        let request = PreparedRequest(.get, try #require(URL(string: "https://api.example.com/v1/items?page=2")))
        let response = APIResponse(
            to: request, status: row.status, headers: ["Content-Type": "\(row.type); charset=utf-8"], data: Data(row.body.utf8))
        #expect(
            "\(APIError.unacceptableStatus(response))"
                == "GET https://api.example.com/v1/items?page=… failed: \(row.shown) (\(row.type), \(row.body.utf8.count) bytes).")
    }
}
