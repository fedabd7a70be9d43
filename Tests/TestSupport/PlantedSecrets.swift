import Foundation
import Testing

/// A text in which a secret stands, and where the text is sent and received.
package struct Planted: Sendable, CustomTestStringConvertible {
    package enum Place: Sendable {
        case url
        case header(String)
        case body(type: String)
    }

    package let place: Place
    /// With `§` for the secret.
    package let text: String
    /// The secret, if it must have a shape of its own.
    package let secret: String
    /// The text as a report shows it, and as a recording has it.
    package private(set) var shown: String
    package private(set) var recorded: String

    package var testDescription: String { "\(place) \(text)" }

    package var planted: String { text.replacingOccurrences(of: "§", with: secret) }

    private init(_ place: Place, _ text: String, _ secret: String = "s3cret") {
        (self.place, self.text, self.secret) = (place, text, secret)
        shown = text.replacingOccurrences(of: "§", with: "…")
        recorded = text.replacingOccurrences(of: "§", with: "REDACTED")
    }

    /// For text of which more is left out than the secret.
    package func shown(as text: String) -> Planted {
        var planted = self
        planted.shown = text
        planted.recorded = text.replacingOccurrences(of: "…", with: "REDACTED")
        return planted
    }

    package func recorded(as text: String) -> Planted {
        var planted = self
        planted.recorded = text
        return planted
    }

    package static func url(_ text: String, _ secret: String = "s3cret") -> Planted { Planted(.url, text, secret) }

    package static func header(_ name: String, _ text: String = "§", _ secret: String = "s3cret") -> Planted {
        Planted(.header(name), text, secret)
    }

    package static func text(_ text: String, _ secret: String = "s3cret") -> Planted {
        Planted(.body(type: "text/plain"), text, secret)
    }

    package static func json(_ text: String, _ secret: String = "s3cret") -> Planted {
        Planted(.body(type: "application/json"), text, secret)
    }

    package static func form(_ text: String) -> Planted { Planted(.body(type: "application/x-www-form-urlencoded"), text) }

    package static func xml(_ text: String) -> Planted { Planted(.body(type: "application/xml"), text) }

    package static func multipart(_ text: String) -> Planted { Planted(.body(type: "Multipart/Form-Data; boundary=b"), text) }
}

extension Planted {
    package static let headers: [Planted] =
        [
            "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-API-KEY", "Api-Key", "Key", "X-Master-Key", "X-Server-Key",
            "X-App-Key", "X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-Auth-Token", "X-Authentication", "Authentication", "X-Auth",
            "X-Pass", "X-Session", "X-Csrf-Token", "X-Amz-Security-Token", "PRIVATE-TOKEN", "X-Vault-Token", "X-Hub-Signature-256",
            "Authentication-Info", "DPoP-Token", "X-Goog-Iam-Authorization-Token", "X-User-Password", "X-Client-Secret", "Sid",
        ].map { .header($0) } + [
            .header("Set-Cookie", "session=§; Path=/; HttpOnly").shown(as: "…"), .header("Accept", "text/html; token=§"),
            .header("X-Blob", #"{"token":"§"}"#), .header("X-Blob", #"%7B%22token%22%3A%22§%22%7D"#),
            .header("X-A", "a=1;token=§"), .header("X-A", "Bearer §"), .header("X-A", "Basic §"), .header("X-A", "bearer §"),
            .header("Location", "https://a.example/callback?code=§&state=1"), .header("Location", "/#/callback?code=§"),
            .header("Location", "https://u:§@a.example/").shown(as: "https://…@a.example/"), .header("Location", "/a;jsessionid=§"),
            .header("Referer", "https://a.example/?access_token=§#id_token=§"), .header("Refresh", "0; url=https://a.example/?token=§"),
            .header("Link", "<https://a.example/items?page=2&api_key=§>; rel=\"next\""),
            .header("Link", "</items?page=2&token=§>; rel=next"),
            .header("WWW-Authenticate", #"Digest realm="a", nonce="§", qop="auth""#), .header("WWW-Authenticate", "Negotiate §"),
            .header("WWW-Authenticate", #"Digest realm="a", opaque="§""#),
            .header("X-Wsse", #"UsernameToken Username="a", PasswordDigest="§""#),
            .header("Content-Type", "text/plain; token=§"), .header("X-Forwarded-Uri", "/a?auth_code=§"),
            .header("X-A", "§", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            .header("Traceparent", "00-§", "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.").shown(as: "00-…."),
        ]

    package static let urls: [Planted] =
        [
            "access_token", "token", "api_key", "key", "sig", "code", "pass", "app_key", "PHPSESSID", "session", "sid", "auth_code",
            "oauth_verifier", "SAMLResponse", "X-Amz-Signature", "X-Amz-Credential", "user%5Bpassword%5D", "client_secret", "jwt", "pwd",
            "id_token", "otp",
        ].map { .url("https://a.example/q?page=2&\($0)=§") } + [
            .url("https://§@a.example/"), .url("https://u:§@a.example/p").shown(as: "https://…@a.example/p"),
            .url("https://a.example/a;jsessionid=§?b=1"),
            .url("https://a.example/a?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D§%26x%3D1"),
            .url("https://a.example/a?next=https%253A%252F%252Fb.example%252F%253Ftoken%253D§"),
            .url("https://a.example/a?next=https://b.example/?token=§"),
            .url("https://a.example/a?variables=%7B%22n%22:1,%22token%22:%22§%22%7D"),
            .url("https://a.example/a?a=1;token=§;b=2").shown(as: "https://a.example/a?a=1;token=…"),
            .url("https://a.example/a?h=Bearer+§"), .url("https://a.example/a?h=Bearer%20§"),
            .url("https://a.example/a#access_token=§&b=1"),
            .url("https://a.example/a#/callback?code=§"),
            .url("https://a.example/a?u=https%3A%2F%2Fu:§%40b.example").shown(as: "https://a.example/a?u=https%3A%2F%2F…%40b.example"),
            .url("https://a.example/hooks/§/send", "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy"),
            .url("https://a.example/a?q=§", "AKIAIOSFODNN7EXAMPLE"),
            .url("https://a.example/a?§", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            .url("https://a.example/verify/§", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
        ]

    package static let json: [Planted] =
        [
            "password", "pass", "user_pass", "pw", "app_key", "privkey", "creds", "accessToken", "refresh_token", "client-secret", "apiKey",
            "passw\\u006frd", "secret", "jwt", "sessionId", "authorization", "cookie", "signature", "api.key", "user[password]",
        ].map { .json(#"{"a":1,"\#($0)":"§","b":2}"#) } + [
            .json(#"{"token":["§",{"x":"§"}],"n":1}"#).shown(as: #"{"token":"…","n":1}"#).recorded(
                as: #"{"token":["REDACTED",{"x":"REDACTED"}],"n":1}"#),
            .json(#"{"credentials":{"user":"§","pin":{"n":"§"}}}"#).shown(as: #"{"credentials":"…"}"#).recorded(
                as: #"{"credentials":{"user":"REDACTED","pin":{"n":"REDACTED"}}}"#),
            .json(#"{"data":"{\"password\":\"§\"}"}"#), .json(#"{"data":"{\"data\":\"{\\\"password\\\":\\\"§\\\"}\"}"}"#),
            .json(#"{"url":"https://u:§@a.example/"}"#).shown(as: #"{"url":"https://…@a.example/"}"#),
            .json(#"{"url":"https:\/\/a.example\/?sig=§&n=1"}"#),
            .json(#"{"url":"https://a.example/?v=%7B%22token%22%3A%22§%22%7D"}"#), .json(#"{"body":"a=1&client%5Fsecret=§&b=2"}"#),
            .json(#"{"query":"mutation { login(user: \"me\", password: \"§\") { id } }"}"#),
            .json(#"{"query":"mutation {\n login(password: \"\"\"§\"\"\")\n}"}"#).shown(
                as: #"{"query":"mutation {\n login(password: \"…\")\n}"}"#), .json(#"{"name":"password","value":"§"}"#),
            .json(#"[{"value":"§","key":"X-Api-Key"}]"#), .json(#"{"headers":[{"name":"Authorization","value":"§"}]}"#),
            .json(#"[{"ParameterKey":"DBPassword","ParameterValue":"§"}]"#), .json(#"[["password","§"],["a","b"]]"#),
            .json(#"{"session":{"id":"§"}}"#), .json(#"{"api":{"key":"§"}}"#), .json(#"{"log":"sent Bearer § twice"}"#),
            .json(#"{"log":"Authorization: Basic §\nHost: a"}"#).shown(as: #"{"log":"Authorization: …\nHost: a"}"#),
            .json(#"{"html":"<input type=\"password\" value=\"§\">"}"#),
            .json(#"{"xml":"<a><password>§</password></a>"}"#), .json(#"{"a":"%7B%22password%22%3A%22§%22%7D"}"#), .json(#""password=§""#),
            .json(#"{"part":"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§\r\n--b--"}"#),
            .json("{\"token\":\"§\"}\n{\"token\":\"§\"}"), .json(")]}',\n{\"token\":\"§\"}"), .json("\u{FEFF}{\"token\":\"§\"}"),
            .json(#"{"a":[[[[{"b":{"token":"§"}}]]]]}"#), .json(#"{"token":"§"#).shown(as: #"{"token":"…""#),
            .json(#"{"a":{"token" : [ "§", "b"#).shown(as: #"{"a":{"token" : "…""#).recorded(
                as: #"{"a":{"token" : [ "REDACTED", "REDACTED""#),
            .json(#"{"value":"§","na"#), .json(#"{'password': '§', 'a': 1}"#), .json(#"{password: "§"}"#),
            .json(#"{"password": §, "a": 1}"#).shown(as: #"{"password": …}"#),
            .json(#"{"a":"§"}"#, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"), .json(#"{"a":"x §"}"#, "sk-proj-a1b2c3d4e5f6"),
            .json(#"{"a":"§"}"#, "sk_live_4eC39HqLyjWDarjtT1zdp7dc"), .json(#"{"a":"§"}"#, "github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvw"),
            .json(#"{"a":"§"}"#, "AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe"),
            .json(#"{"a":"§"}"#, "gho_16C7e42F292c6912E7710c838347Ae178B4a"),
            .json(#"{"a":"§"}"#, "ZXlKaGJHY2lPaUpJVXpJMU5pSjkuZXlKemRXSWlPaUl4SW4wLmMybG4=").shown(as: #"{"a":"…="}"#),
            .json(#"{"§":1}"#, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            .json(#"{"a":"data:application/json;base64,§"}"#, "eyJ0b2tlbiI6InMzY3JldCJ9").recorded(
                as: #"{"a":"data:application/json;base64,eyJ0b2tlbiI6IlJFREFDVEVEIn0="}"#), .json(#"{"a":"data:,token=§"}"#),
            .json(#"{"a":"§"}"#, "eyJwYXNzd29yZCI6InMzY3JldCJ9").recorded(as: #"{"a":"eyJwYXNzd29yZCI6IlJFREFDVEVEIn0="}"#),
            .json(#"{"API key":"§"}"#), .json(#"{"auths":{"a.example":{"auth":"§"}}}"#),
            .json(#"{"cookies":{"sid":"§"}}"#).shown(as: #"{"cookies":"…"}"#).recorded(as: #"{"cookies":{"sid":"REDACTED"}}"#),
            .json(#"{"a":"-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----\n"}"#).shown(as: #"{"a":"…\n"}"#),
        ]

    package static let others: [Planted] = [
        .form("grant_type=password&password=§&a=b"), .form("code=§&state=1"), .form("key=§"), .form("a=1&sig=§"),
        .form("user%5Bpassword%5D=§"), .form("user[password]=§"), .form("p%61ssword=§"), .form("data=%7B%22token%22%3A%22§%22%7D&n=1"),
        .form("data={\"token\":\"§\"}&n=1"), .form("h=Bearer+§"), .form("password=a b §").shown(as: "password=…"),
        .form("a=1\r\npassword=§\r\n"),
        .text("username=me&password=§"), .text("username=me\r\npassword=§\r\ncode=§\r\n"), .text("DB_PASS=§\nAPI_KEY=§"),
        .text("password: §"), .text("  password :\n    §\n"), .text("a:\n  token: |\n    §\n    §\nb: c").shown(as: "a:\n  token: …\nb: c"),
        .text("Authorization: Bearer §").shown(as: "Authorization: …"),
        .text("POST /a?token=§ HTTP/1.1\r\nCookie: a=§\r\n\r\nx").shown(as: "POST /a?token=… HTTP/1.1\r\nCookie: …\r\n\r\nx"),
        .text("go to https://u:§@a.example now").shown(as: "go to https://…@a.example now"),
        .text("go to https://a.example/?token=§ now"), .text("proxy u:§@proxy.example:80").shown(as: "proxy …@proxy.example:80"),
        .text("f(user: me, password: §)"),
        .text("password = '§'"), .text("headers[\"X-Api-Key\"] = \"§\""),
        .text("curl --password § https://a").shown(as: "curl --password …"), .text("{:password=>\"§\"}"),
        .text("log: {\\\"token\\\":\\\"§\\\"}"), .text("Your password:\n\n§\n"),
        .text("Set-Cookie: a=§; HttpOnly").shown(as: "Set-Cookie: …"),
        .text("/a;jsessionid=§"), .text("_csrf = §"), .text("token: a § b").shown(as: "token: …"), .text("a Negotiate § b"),
        .text("ssh -----BEGIN OPENSSH PRIVATE KEY-----\n§\n§\n-----END OPENSSH PRIVATE KEY-----").shown(as: "ssh …"),
        .text("AWS §", "ASIAIOSFODNN7EXAMPLE"), .text("x-§", "xoxp-1234567890-abcdefghij"), .text("a=§", "glpat-abcdefghij0123456789"),
        .text("t §!", "Ab1dEf2hIj3lMn4pQ.Ab1dEf2hIj3lMn4pQ.Ab1dEf2hIj3lMn4pQ"),
        .xml("<a><password>§</password></a>"), .xml(#"<s:Password Type="x">§</s:Password>"#), .xml(#"<user password="§"/>"#),
        .xml("<user password='§'/>"),
        .xml("<a><password><![CDATA[§]]></password></a>").shown(as: "<a><password>…</password></a>").recorded(
            as: "<a><password><![CDATA[REDACTED]]></password></a>"),
        .xml("<credentials><a x=\"§\">§</a></credentials>").shown(as: "<credentials>…</credentials>").recorded(
            as: #"<credentials><a x="REDACTED">REDACTED</a></credentials>"#),
        .xml("<dict><key>token</key>\n<string>§</string></dict>"), .xml(#"<add key="Password" value="§"/>"#),
        .xml(#"<add value="§" key="Password"/>"#), .xml(#"<field name="password">§</field>"#),
        .xml("<member><name>password</name><value><string>§</string></value></member>").shown(
            as: "<member><name>password</name><value>…</value></member>"
        ).recorded(as: "<member><name>password</name><value><string>REDACTED</string></value></member>"),
        .xml("<!-- password: § -->").shown(as: "<!-- password: …"),
        .xml("<dl><dt>Password</dt><dd>§</dd></dl>"), .xml("<p>API key: <code>§</code></p>"),
        .xml(#"<a href="https://u:§@a.example/?token=§">x</a>"#).shown(as: #"<a href="https://…@a.example/?token=…">x</a>"#),
        .xml(#"<a href="/?n=1&amp;token=§">x</a>"#),
        .xml(#"<div data-x="{&quot;token&quot;:&quot;§&quot;}"></div>"#), .xml("<pre>{&#34;token&#34;:&#34;§&#34;}</pre>"),
        .xml(#"<input name=token value=§>"#), .xml("<script>var a = {\"apiKey\":\"§\"}; b(apiKey = '§')</script>"),
        .xml("<meta name=\"csrf-token\" content=\"§\">"), .xml("<p>Bearer §</p>"), .xml("<password>§"), .xml("<a password=\"§"),
        .multipart("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§\r\n--b--\r\n"),
        .multipart("--b\nContent-Disposition: form-data; name=\"password\"\n\n§\n--b--\n"),
        .multipart("--b\r\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\r\n\r\n§\r\n--b--\r\n"),
        .multipart("--b\r\nContent-Disposition: form-data; name=pass\r\nContent-Type: text/plain\r\n\r\n§\r\n§\r\n--b--\r\n").shown(
            as: "--b\r\nContent-Disposition: form-data; name=pass\r\nContent-Type: text/plain\r\n\r\n…\r\n--b--\r\n"),
        .multipart("--b\r\ncontent-disposition: form-data;\r\n name=\"code\"\r\n\r\n§\r\n--b--\r\n"),
        .multipart(
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: application/json\r\n\r\n{\"token\":\"§\"}\r\n--b--\r\n"),
        .multipart("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nAuthorization: Basic §\r\n\r\nx\r\n--c--\r\n--b--\r\n")
            .shown(as: "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nAuthorization: …\r\n\r\nx\r\n--c--\r\n--b--\r\n"),
        .multipart("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§"), .multipart("password=§"),
    ]

    /// What was not found, or not thought of, before.
    package static let later: [Planted] =
        [
            "accessCode", "activation_key", "aes_key", "auth_header", "backupCodes", "securityAnswer", "two_factor_code", "unlockCode",
            "pairing_code", "remember_token", "hashed_password", "smtpPassword", "totpSecret", "GITHUB_TOKEN", "encrypted_password",
        ].map { .json(#"{"a":1,"\#($0)":"§","b":2}"#) } + [
            .json(#"["token": "§", "a": 1]"#), .json(#"["token": Optional("§")]"#).shown(as: #"["token": …]"#),
            .json(#"["name": "password", "value": "§"]"#),
            .json(#"{ "api-key" = "§"; a = 1; }"#), .json(#"{"n":"password","v":"§"}"#),
            .json(#"[{"op":"replace","path":"/password","value":"§"}]"#),
            .text("curl -u me:§ https://a.example/").shown(as: "curl -u … https://a.example/"),
            .text("curl --user 'me:§' https://a.example/").shown(as: "curl --user '…' https://a.example/"),
            .text("jdbc:postgresql://h/db?user=a&password=§"), .text("redis://:§@h:6379").shown(as: "redis://…@h:6379"),
            .text("Server=h;User Id=a;Password=§;").shown(as: "Server=h;User Id=a;Password=…"),
            .text("AccountName=x;AccountKey=§;EndpointSuffix=y").shown(as: "AccountName=x;AccountKey=…"),
            .text("PGPASSWORD=§ psql").shown(as: "PGPASSWORD=…"),
            .header("X-Auth-Ticket"), .header("Stripe-Signature"), .header("cf-access-jwt-assertion"), .header("X-Forwarded-Authorization"),
            .header("X-Log", "curl -u me:§ https://a.example").shown(as: "curl -u … https://a.example"),
            .url("https://a.example/a?sesskey=§"), .url("https://a.example/a?hmac=§"),
        ]
        + [
            "glrt-", "xoxc-", "shpca_", "sq0csp-", "dckr_pat_", "gsk_", "nvapi-", "r8_", "tskey-auth-", "AGE-SECRET-KEY-1", "ATATT3x",
            "SG.",
        ].map {
            .text("a §, b", "\($0)aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z")
        }

    package static let all = headers + urls + json + others + later
}

/// Text that looks as if a secret stood in it, and has none.
package enum Harmless {
    package static let headers = [
        "Access-Control-Allow-Credentials": "true", "Access-Control-Allow-Headers": "Authorization, X-Api-Key", "X-Request-Id": "7f3c",
        "ETag": "\"33a64df5\"", "Accept": "application/json; charset=utf-8", "Idempotency-Key": "8e03978e", "X-Authority": "a",
        "Cache-Control": "max-age=60", "X-Password-Strength": "3", "X-Cookie-Consent": "yes",
        "Vary": "Authorization, Cookie", "Content-Digest": "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
        "X-Ratelimit-Remaining-Tokens": "12", "X-Tokens-Per-Minute": "3", "Keep-Alive": "timeout=5", "X-Package": "npm_abcdefgh",
    ]

    package static let json = [
        #"{"tokenizer":"a","token_symbol":"b","password_strength":"c","secretariat":"d"}"#,
        #"{"country_code":"de","error_code":"a","qrcode":"b","opcode":"c","sort_keys":["a"]}"#,
        #"{"message":"Unexpected token } in JSON at position 5"}"#, #"{"clone":"git@github.com:owner/repo.git"}"#,
        #"{"image":"registry:5000/image@sha256:abcdef","urn":"urn:uuid:6F9619FF-8B86-D011-B42D-00C04FC964FF"}"#,
        #"{"is_authenticated":"yes","auth_time":1,"authentication_methods":["a"],"signed_at":"b","pinned":"c"}"#,
        #"{"error":{"code":"invalid_api_key","message":"Incorrect API key provided"}}"#,
        #"{"token_type":"bearer","expires_in":3600}"#, #"{"password_changed_at":"2026-11-21T09:30:00Z"}"#, #"{"device_token_id":17}"#,
        #"{"max_tokens":4096,"total_tokens":12}"#, #"{"token_url":"https://a.example/token"}"#, #"{"keyboard":"us","monkey":"a"}"#,
        #"{"authority":"a","author":"b"}"#, #"{"passport":"a","compass":"b","bypass":"c"}"#, #"{"sessions_count":3}"#,
        #"{"id":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}"#, #"{"date":"2026-11-21","number":12.50}"#,
        #"{"sha":"b1946ac92492d2347c6235b4d2611184f8f4a1c2"}"#, #"{"code":"not_found","key":"value"}"#,
        #"{"has_password":true,"token":null}"#, #"{"name":"who has a token","value":"a"}"#,
        #"{"message":"Your token has expired."}"#, #"{"name":"title","value":"Token ring"}"#, #"{"scopes":["user","password"]}"#,
        #"{"text":"Mail me@example.com at 12:30:45, see https://medium.com/@me"}"#, #"{"public_key":"a","sort_key":"b"}"#,
        #"{"package":"com.example.App","version":"4.17.21"}"#, #"{"type":"Array<Token>","secretary":"a"}"#, #"{"secret":"","tokens":[]}"#,
    ]
}
