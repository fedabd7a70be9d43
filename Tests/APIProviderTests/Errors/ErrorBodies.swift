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
            "Google", 400,
            #"""
            {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT",
            "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}
            """#,
            "API key not valid"),
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
            "Laravel", 422, #"{"message":"The given data was invalid.","errors":{"email":["The email field is required."]}}"#,
            "The given data was invalid.", "The email field is required."),
        .init(
            "Spring Boot", 500,
            #"{"timestamp":"2026-03-01T10:00:00.000+00:00","status":500,"error":"Internal Server Error","path":"/api/orders"}"#,
            "Internal Server Error"),
        .init(
            "Twilio", 400,
            #"""
            {"code":21211,"message":"The 'To' number +15005550001 is not a valid phone number.",
            "more_info":"https://www.twilio.com/docs/errors/21211","status":400}
            """#,
            "is not a valid phone number", "21211"),
        .init("Firebase", 401, #"{"error" : "Permission denied"}"#, "Permission denied"),
        .init(
            "OpenAI", 404,
            #"""
            {"error":{"message":"The model `gpt-4o-mini-2024-07-18` does not exist or you do not have access to it.",
            "type":"invalid_request_error","param":null,"code":"model_not_found"}}
            """#,
            "The model `gpt-4o-mini-2024-07-18` does not exist"),
        .init(
            "Anthropic", 400,
            #"""
            {"type":"error","error":{"type":"invalid_request_error",
            "message":"max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022"},
            "request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}
            """#,
            "max_tokens: 100000 > 8192"),
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
            "Azure", 404,
            #"""
            {"error":{"code":"ResourceNotFound",
            "message":"The Resource 'Microsoft.Web/sites/app1' under resource group 'rg-prod-01' was not found."}}
            """#,
            "was not found"),
        .init(
            "Django", 400, #"{"username":["A user with that username already exists."],"non_field_errors":["x"]}"#,
            "A user with that username already exists."),
        .init(
            "Express", 404, type: "text/html; charset=utf-8",
            "<!DOCTYPE html>\n<html><head><title>Error</title></head><body><pre>Cannot GET /api/v1/users</pre></body></html>",
            "Cannot GET /api/v1/users"),
        .init(
            "Kubernetes", 404,
            #"""
            {"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods \"web-7d4b9c6f5d-x2x7k\" not found",
            "reason":"NotFound","code":404}
            """#,
            "pods", "not found"),
        .init(
            "PostgREST", 409,
            #"""
            {"code":"23505","details":"Key (email)=(a@b.c) already exists.","hint":null,
            "message":"duplicate key value violates unique constraint \"users_email_key\""}
            """#,
            "duplicate key value violates unique constraint", "users_email_key"),
        .init(
            "Microsoft Graph", 401,
            #"""
            {"error":{"code":"InvalidAuthenticationToken","message":"Lifetime validation failed, the token is expired.",
            "innerError":{"date":"2026-01-01T00:00:00","request-id":"x"}}}
            """#,
            "the token is expired"),
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
        .init(
            "gRPC-gateway", 400, #"{"code":3,"message":"invalid argument: page_size must be <= 100","details":[]}"#,
            "page_size must be <= 100"),
    ]

    private static let others: [ErrorBody] = [
        .init("Slack", 200, #"{"ok":false,"error":"channel_not_found"}"#, "channel_not_found"),
        .init("Telegram", 400, #"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#, "chat not found"),
        .init(
            "X", 400,
            #"""
            {"errors":[{"parameters":{"max_results":["500"]},
            "message":"The `max_results` query parameter value [500] is not between 10 and 100"}],"title":"Invalid Request",
            "detail":"One or more parameters to your request was invalid.",
            "type":"https://api.twitter.com/2/problems/invalid-request"}
            """#,
            "The `max_results` query parameter value [500] is not between 10 and 100"),
        .init(
            "Facebook", 401,
            #"""
            {"error":{"message":"Error validating access token: Session has expired on Sunday, 14-Jun-26 05:00:00 PDT.",
            "type":"OAuthException","code":190,"error_subcode":463,"fbtrace_id":"EJplcsCHuLu12abCdef"}}
            """#,
            "Session has expired on Sunday, 14-Jun-26 05:00:00 PDT", "190"),
        .init(
            "Dropbox", 409, #"{"error_summary":"path/not_found/..","error":{".tag":"path","path":{".tag":"not_found"}}}"#,
            "path/not_found"),
        .init(
            "Notion", 400,
            #"""
            {"object":"error","status":400,"code":"validation_error",
            "message":"body failed validation: body.parent.page_id should be defined, instead was `undefined`.",
            "request_id":"779fa3a2-33f1-4c0e-9d0f-2c1b8d33a4e1"}
            """#,
            "body.parent.page_id should be defined"),
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
        .init("Spotify", 400, #"{"error":{"status":400,"message":"Invalid limit: must be between 1 and 50"}}"#, "between 1 and 50"),
        .init(
            "Square", 400,
            #"""
            {"errors":[{"category":"INVALID_REQUEST_ERROR","code":"MISSING_REQUIRED_PARAMETER",
            "detail":"Missing required parameter.","field":"source_id"}]}
            """#,
            "Missing required parameter."),
        .init(
            "PayPal", 422,
            #"""
            {"name":"UNPROCESSABLE_ENTITY","details":[{"field":"/purchase_units/0/amount/value","issue":"DECIMAL_PRECISION",
            "description":"Only two decimal places are supported."}],"message":"The requested action could not be performed.",
            "debug_id":"b1d1f06c7246c","links":[{"href":"https://developer.paypal.com/docs/","method":"GET"}]}
            """#,
            "The requested action could not be performed.", "Only two decimal places are supported."),
        .init(
            "Cloudflare", 403,
            #"{"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[],"result":null}"#,
            "Authentication error", "10000"),
        .init(
            "Mailchimp", 400,
            #"""
            {"type":"https://mailchimp.com/developer/marketing/docs/errors/","title":"Invalid Resource","status":400,
            "detail":"The resource submitted could not be validated. For field-specific details, see the 'errors' array.",
            "instance":"c1d0e7a2-9b1d-4c57-8a2e-3d1f0b7c9e42","errors":[{"field":"email_address",
            "message":"This value should be a valid email."}]}
            """#,
            "could not be validated", "This value should be a valid email."),
        .init(
            "Go", 400, type: "text/plain; charset=utf-8",
            "json: cannot unmarshal string into Go struct field Order.price of type int\nrequest a1b2c3d4e5f6a7b8\n",
            "cannot unmarshal string into Go struct field Order.price of type int"),
        .init(
            "Zendesk", 422,
            #"""
            {"error":"RecordInvalid","description":"Record validation errors",
            "details":{"email":[{"description":"Email: jo@example.com is already being used by another user",
            "error":"DuplicateValue"}]}}
            """#,
            "Record validation errors", "is already being used by another user"),
        .init(
            "Elasticsearch", 404,
            #"""
            {"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [orders-2026]"}],
            "type":"index_not_found_exception","reason":"no such index [orders-2026]","index":"orders-2026"},"status":404}
            """#,
            "no such index [orders-2026]"),
        .init(
            "OpenWeather", 401,
            #"{"cod":401,"message":"Invalid API key. Please see https://openweathermap.org/faq#error401 for more info."}"#,
            "Invalid API key. Please see https://openweathermap.org/faq"),
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
            "Okta", 400,
            #"""
            {"errorCode":"E0000001","errorSummary":"Api validation failed: login","errorLink":"E0000001",
            "errorId":"oaeHfmOAx1iRLa0H10DeMz5fQ",
            "errorCauses":[{"errorSummary":"login: An object with this field already exists in the current organization"}]}
            """#,
            "Api validation failed: login", "An object with this field already exists"),
        .init(
            "Plaid", 400,
            #"""
            {"error_type":"INVALID_INPUT","error_code":"INVALID_ACCESS_TOKEN",
            "error_message":"could not find matching access token","display_message":null,"request_id":"HNTDNrA8F1shFEW"}
            """#,
            "could not find matching access token"),
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
            "API Platform", 422, type: "application/problem+json",
            #"""
            {"type":"/validation_errors/x","title":"An error occurred","detail":"quantity: This value should be positive.",
            "violations":[{"propertyPath":"quantity","message":"This value should be positive.",
            "code":"778b7ae0-84d3-481a-9dec-35fdb64b1d78"}]}
            """#,
            "quantity: This value should be positive"),
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
