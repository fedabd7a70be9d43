import Testing

/// A body with which an API says what went wrong, in the shape that its documentation gives.
struct ErrorBody: Sendable, CustomTestStringConvertible {
    let api: String
    let status: Int
    let type: String
    let text: String
    /// What a developer looks for, as it stands in the body: the server's message, and what else matters.
    let words: [String]

    var testDescription: String { api }

    init(_ api: String, _ status: Int, type: String = "application/json", _ text: String, _ words: String...) {
        (self.api, self.status, self.type, self.text, self.words) = (api, status, type, text, words)
    }

    static let all = first + others

    private static let first: [ErrorBody] = [
        .init(
            "GitHub", 422, type: "application/json; charset=utf-8",
            #"""
            {"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}],
            "documentation_url":"https://docs.github.com/rest/issues/issues#create-an-issue","status":"422"}
            """#,
            "Validation Failed", "missing_field"),
        .init(
            "Stripe", 402,
            #"""
            {"error":{"code":"card_declined","decline_code":"insufficient_funds",
            "doc_url":"https://stripe.com/docs/error-codes/card-declined","message":"Your card has insufficient funds.","param":"",
            "type":"card_error"}}
            """#,
            "Your card has insufficient funds."),
        .init(
            "S3", 403, type: "application/xml",
            #"""
            <?xml version="1.0" encoding="UTF-8"?>
            <Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the signature you provided.
            </Message><AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE</AWSAccessKeyId><RequestId>4442587FB7D0A2F9</RequestId></Error>
            """#,
            "SignatureDoesNotMatch", "The request signature we calculated does not match"),
        .init(
            "FastAPI", 422,
            #"{"detail":[{"type":"missing","loc":["body","price"],"msg":"Field required","input":{"name":"Foo"}}]}"#,
            "Field required"),
        .init(
            "Rails", 422,
            #"{"errors":{"password":["is too short (minimum is 6 characters)"],"email":["has already been taken"]}}"#,
            "has already been taken", "is too short (minimum is 6 characters)"),
        .init("Rails without a name", 422, #"{"email":["has already been taken"]}"#, "has already been taken"),
        .init(
            "RFC 9457", 403, type: "application/problem+json",
            #"""
            {"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.",
            "detail":"Your current balance is 30, but that costs 50.","instance":"/account/12345/msgs/abc"}
            """#,
            "Your current balance is 30, but that costs 50."),
        .init(
            "Spring Boot", 500,
            #"{"timestamp":"2026-03-01T10:00:00.000+00:00","status":500,"error":"Internal Server Error","path":"/api/orders"}"#,
            "Internal Server Error"),
        .init(
            "Discord", 400,
            #"""
            {"code":50035,"errors":{"content":{"_errors":[{"code":"BASE_TYPE_REQUIRED","message":"This field is required"}]}},
            "message":"Invalid Form Body"}
            """#,
            "Invalid Form Body", "50035", "This field is required"),
        .init(
            "Shopify", 401, #"{"errors":"[API] Invalid API key or access token (unrecognized login or wrong password)"}"#,
            "[API] Invalid API key or access token"),
        .init(
            "OAuth", 400, #"{"error":"invalid_grant","error_description":"The refresh token is expired."}"#, "invalid_grant",
            "The refresh token is expired"),
        .init(
            "Express", 404, type: "text/html; charset=utf-8",
            "<!DOCTYPE html>\n<html><head><title>Error</title></head><body><pre>Cannot GET /api/v1/users</pre></body></html>",
            "Cannot GET /api/v1/users"),
        .init(
            "Reddit", 200, #"{"json":{"errors":[["BAD_SR_NAME","that name isn't going to work","sr"]]}}"#, "BAD_SR_NAME",
            "that name isn't going to work"),
        .init(
            "Salesforce", 400, #"[{"message":"No such column 'Foo' on entity 'Account'","errorCode":"INVALID_FIELD"}]"#,
            "No such column 'Foo' on entity 'Account'"),
        .init(
            "SendGrid", 400,
            #"{"errors":[{"message":"The from address does not match a verified Sender Identity.","field":"from","help":null}]}"#,
            "The from address does not match"),
    ]

    private static let others: [ErrorBody] = [
        .init("Slack", 200, #"{"ok":false,"error":"channel_not_found"}"#, "channel_not_found"),
        .init("Telegram", 400, #"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#, "chat not found"),
        .init(
            "Dropbox", 409, #"{"error_summary":"path/not_found/..","error":{".tag":"path","path":{".tag":"not_found"}}}"#,
            "path/not_found"),
        .init(
            "Spring's validation", 400,
            #"""
            {"timestamp":1772359200000,"status":400,"error":"Bad Request",
            "message":"Validation failed for object='order'. Error count: 1","errors":[{"codes":["NotBlank.order.email","NotBlank"],
            "defaultMessage":"must not be blank","objectName":"order","field":"email","rejectedValue":"correcthorse",
            "code":"NotBlank"}],"path":"/orders"}
            """#,
            "Validation failed for object='order'. Error count: 1", "must not be blank"),
        .init(
            "Jira", 400,
            #"{"errorMessages":["The issue type is required."],"errors":{"summary":"You must specify a summary of the issue."}}"#,
            "The issue type is required", "You must specify a summary of the issue."),
        .init(
            "GitLab", 400,
            #"{"message":{"name":["has already been taken"],"path":["is too short (minimum is 2 characters)"]}}"#,
            "has already been taken", "is too short (minimum is 2 characters)"),
        .init(
            "Go", 400, type: "text/plain; charset=utf-8",
            "json: cannot unmarshal string into Go struct field Order.price of type int\nrequest a1b2c3d4e5f6a7b8\n",
            "cannot unmarshal string into Go struct field Order.price of type int"),
        .init(
            "Elasticsearch", 404,
            #"""
            {"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [orders-2026]"}],
            "type":"index_not_found_exception","reason":"no such index [orders-2026]","index":"orders-2026"},"status":404}
            """#,
            "no such index [orders-2026]"),
        .init(
            "DynamoDB", 400, type: "application/x-amz-json-1.0",
            #"""
            {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
            "Message":"Requested resource not found: Table: Orders not found"}
            """#,
            "Requested resource not found: Table: Orders not found"),
        .init(
            "ASP.NET Core", 400, type: "application/problem+json",
            #"""
            {"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"One or more validation errors occurred.",
            "status":400,"errors":{"Email":["The Email field is required."]},
            "traceId":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
            """#,
            "One or more validation errors occurred.", "The Email field is required."),
        .init(
            "NestJS", 400,
            #"{"statusCode":400,"message":["email must be an email","age must not be less than 18"],"error":"Bad Request"}"#,
            "email must be an email", "age must not be less than 18"),
        .init(
            "JSON:API", 422, type: "application/vnd.api+json",
            #"""
            {"errors":[{"status":"422","source":{"pointer":"/data/attributes/title"},"title":"Invalid Attribute",
            "detail":"must have at least 3 characters"}]}
            """#,
            "must have at least 3 characters"),
        .init(
            "GraphQL", 200,
            #"""
            {"data":null,"errors":[{"message":"Variable \"$first\" must be at most 100","path":["search"],
            "extensions":{"code":"ARGUMENT"}}]}
            """#,
            "must be at most 100"),
        .init(
            "Azure Storage", 403, type: "application/xml",
            "\u{FEFF}"
                + #"""
                <?xml version="1.0" encoding="utf-8"?><Error><Code>AuthenticationFailed</Code>
                <Message>Server failed to authenticate the request. Make sure the signature is right.
                RequestId:9d3a1c8e-701e-0055-5e0f-b1a2c3d4e5f6
                Time:2026-03-01T10:00:00.0000000Z</Message></Error>
                """#,
            "AuthenticationFailed", "Server failed to authenticate the request"),
    ]
}
