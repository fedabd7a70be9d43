import Foundation
import Testing

/// A text with a secret, and where the text is sent and received.
package struct Planted: Sendable, CustomTestStringConvertible {
    package enum Place: Sendable {
        case url
        case header(String)
        case body(type: String)
    }

    package let place: Place
    package let text: String
    package let secret: String
    /// Whether the secret stands under the name of a credential, or where nothing else can stand.
    package let isNamed: Bool

    package var testDescription: String { "\(place) \(text)" }

    private static func rows(_ place: Place, _ texts: [String], isNamed: Bool) -> [Planted] {
        texts.enumerated().map { index, text in
            let secret = secrets[index % secrets.count]
            return Planted(place: place, text: text.replacingOccurrences(of: "§", with: secret), secret: secret, isNamed: isNamed)
        }
    }

    /// Of letters and digits, as most are.
    private static let secrets = [
        "hunter2", "s3cret", "t0ken", "4eC39HqLyjWDarjtT1zdp7dc", "AKIAIOSFODNN7EXAMPLE", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "0e3f5c6a-9b1d-4c57-8a2e-3d1f0b7c9e42", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "xoxb-17653672481-abcdefghijkl",
        "Tr0ub4dor", "5f4dcc3b5aa765d61d8327deb882cf99", "ABCD-1234-EFGH-5678", "4111111111111111",
    ]

    package static let all = headers + urls + json + forms + others

    private static let valuesOfHeaders = ["§", "Bearer §", "a=1; token=§", #"{"a":"§"}"#, "https://u:§@h/?q=§#a=§"]

    package static let headers =
        ["Authorization", "Cookie", "Set-Cookie"].flatMap { rows(.header($0), valuesOfHeaders, isNamed: true) }
        + ["X-Trace", "Authentication-Info", "Referer", "Link", "Location", "WWW-Authenticate", "Refresh"]
        .flatMap { rows(.header($0), valuesOfHeaders, isNamed: false) }

    package static let urls =
        rows(
            .url,
            [
                "q?page=2&access_token=§", "q?a=1;token=§;b=2", "q?v=%7B%22token%22:%22§%22%7D", "q#access_token=§&b=1",
                "q#/callback?code=§", "q#§", "q?X-Amz-Signature=§&X-Amz-Credential=§", "q?user%5Bpassword%5D=§",
            ].map { "https://a.example/\($0)" } + ["https://§@a.example/", "https://u:§@a.example/p", "https://u@x:§@a.example/p"],
            isNamed: true)
        + rows(
            .url,
            [
                "?q=§", "?§", "?a=1&§", "?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D§%26x%3D1", "?kennwort=§", "?mot_de_passe=§", "?=§",
                "?a==§", "?SAMLResponse=§", "?a=%zz§",
            ].map { "https://a.example/q\($0)" }, isNamed: false)

    package static let json =
        rows(
            .body(type: "application/json"),
            [
                "password", "accessToken", "refresh_token", "client-secret", "apiKey", "passw\\u006frd", "jwt", "sessionId", "api.key",
                "user[password]", "X-Amz-Security-Token", "phpsessid", "authtoken", "password_confirmation",
            ].map { #"{"a":1,"\#($0)":"§","b":[true,{"\#($0)":["§",{"x":"§"}]}]}"# } + [
                #"{"session":{"id":"§","user":{"name":"§"}}}"#, #"{"data":"{\"password\":\"§\"}"}"#,
                #"{"data":"[{\"a\":\"{\\\"token\\\":\\\"§\\\"}\"}]"}"#, #"[[[[{"b":{"token":"§"}}]]]]"#,
                "\u{FEFF}{ \"token\" :\n\"§\" }", #"{"name":"password","value":"§"}"#, #"{"message":"password=\"§\"&a=1"}"#,
                #"{"errors":{"password":["§ is too short"]}}"#, #"{"token":"§"#, #"{"token":"§"} x"#,
                "{\"token\":\"§\"}\n{\"token\":\"§\"}",
                "{token: \"§\"}",
            ], isNamed: true)
        + rows(
            .body(type: "application/json"),
            [
                #"{"value":"§"}"#, #"["§"]"#, #""§""#, #"{"headers":[["Authorization","§"]]}"#, #"{"log":"sent Bearer § twice"}"#,
                #"{"message":"password § is wrong"}"#, #"{"error":{"message":"Incorrect API key provided: §."}}"#, #"{"error":"§"}"#,
                #"{"detail":"see https://u:§@h/?t=§#t=§"}"#, #"{"detail":"GET /a?token=§ and /reset/§"}"#,
                #"{"detail":[{"loc":["body","password"],"msg":"too short","input":"§","ctx":{"given":"§"}}]}"#,
                #"{"errors":[{"rejectedValue":"§","arguments":["§",{"code":"§"}]}]}"#, #"{"title":"“§”"}"#, #"{"code":"\u0020§"}"#,
                #"{"data":{"viewer":{"email":"§"}},"errors":[{"message":"no","path":["user"],"extensions":{"hint":"§"}}]}"#,
                #"{"error_description":"a\nb: §,c"}"#, #"{"status":"§/x"}"#, #"{"a":{"b":[[[{"c":"§"}]]]},"type":"t"}"#,
            ], isNamed: false)

    package static let forms =
        rows(
            .body(type: "Application/X-WWW-Form-Urlencoded; charset=utf-8"),
            ["access_token=§&a=1", "password=§", "user%5Bpassword%5D=§", "a&client%5Fsecret=§"], isNamed: true)
        + rows(.body(type: "application/x-www-form-urlencoded"), ["code=§&grant_type=x", "kennwort=§+§"], isNamed: false)

    package static let others =
        rows(
            .body(type: "text/plain"),
            ["§", "a: §", "password=§ x", "§\n§", "the token \"§\" has expired", "a,§,b", "(§)", "it’s §…"], isNamed: false)
        + rows(
            .body(type: "application/xml"),
            [#"<a token="§"/>"#, "<a><password>§</password><b>c</b></a>", "<s:a><s:Token type=\"x\"><![CDATA[§]]></s:Token></s:a>"],
            isNamed: true)
        + rows(.body(type: "text/html"), [#"<input type="password" value="§">"#, "<p>§</p>"], isNamed: false)
        + rows(.body(type: "application/octet-stream"), ["\u{0}§", "§"], isNamed: false)
        + rows(
            .body(type: "multipart/form-data; boundary=b"),
            ["--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§\r\n--b--", "--b\r\n\r\n{\"token\":\"§\"}\r\n--b--"],
            isNamed: true)
        + rows(.body(type: "text/event-stream"), ["event: a\ndata: {\"token\": \"§\", \"n\": 1}\n\n"], isNamed: true)
}
