import APIProvider
import Testing

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "A name of a secret is known however it is written",
        arguments: [
            "password", "Passwd", "user[password]", "db_pwd", "accessToken", "refresh_token", "X-CSRF-Token", "client-secret", "api_key",
            "X-API-Key", "Authorization", "Proxy-Authorization", "Set-Cookie", "auth", "X-Auth", "JWT", "session_id", "X-Signature",
            "passcode", "credentials", "bearer", "device_code", "code_verifier", "client_assertion", "Ocp-Apim-Subscription-Key",
            "x-functions-key",
        ])
    func secret(name: String) {
        #expect(Secret.isNamed(by: name))
    }

    @Test(
        "Other names are not",
        arguments: ["author", "authors", "name", "key", "session", "passage", "Content-Type", "X-Request-ID", "ETag"])
    func harmless(name: String) {
        #expect(!Secret.isNamed(by: name))
    }

    @Test(
        "Secrets in a body are masked, whatever its format",
        arguments: [
            // JSON (RFC 8259)
            (#"{"password":"s3cret","a":1}"#, #"{"password":"…","a":1}"#),
            (#"[{"token":{"a":["s3cret"]}},true]"#, #"[{"token":"…"},true]"#),
            (#"{"token":"s3cr"#, #"{"token":"…""#),
            ("{\"a\":1}\n{\"token\":\"s3cret\"}", "{\"a\":1}\n{\"token\":\"…\"}"),
            // a form (WHATWG URL standard)
            ("a=1&user%5Bpassword%5D=s3cret&b=2", "a=1&user%5Bpassword%5D=…&b=2"),
            ("grant_type=password&username=me&client_secret=s3cret", "grant_type=password&username=me&client_secret=…"),
            // multipart/form-data (RFC 7578)
            (
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret&s3cret\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"password…"
            ),
            // XML
            ("<a><password>s3cret</password></a>", "<a><password…"),
            (#"<s:Password Type="x">s3cret</s:Password>"#, "<s:Password…"),
            (#"<user name="me" password="s3cret"/>"#, #"<user name="me" password…"#),
            // text
            ("user: me\npassword: s3cret\nx: y", "user: me\npassword…"),
            ("user=me\npassword = s3cret", "user=me\npassword…"),
            ("[error] password=s3cret", "[error] password…"),
            ("{'password': 's3cret'}", "{'password…"),
            (")]}'\n{\"password\":\"s3cret\"}", ")]}'\n{\"password…"),
            ("Authorization: Bearer s3cret", "Authorization…"),
        ])
    func masked(body: String, text: String) {
        #expect(Secret.masked(in: body) == text)
    }

    @Test(
        "What has no secret stays as it is",
        arguments: [
            "", "plain", "Your token has expired.", "a=1&b=2&&c", #"{"message":"Bad credentials"}"#, "<p>The password is wrong</p>",
            "grant_type=password", #"{"a":[1.5e+3,null,true,false]}"#, "a&b; c=d",
        ])
    func unchanged(body: String) {
        #expect(Secret.masked(in: body) == body)
    }
}
