import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "A name of a secret is known however it is written",
        arguments: [
            "password", "Passwd", "user[password]", "db_pwd", "accessToken", "refresh_token", "X-CSRF-Token", "client-secret", "api_key",
            "X-API-Key", "Authorization", "Proxy-Authorization", "Set-Cookie", "auth", "X-Auth", "JWT", "session_id", "X-Signature",
            "passcode", "credentials", "bearer", "device_code", "code_verifier", "client_assertion", "Ocp-Apim-Subscription-Key",
            "x-functions-key", "pass", "user_pass", "dbPass", "pw", "userPw", "app_key", "privkey", "creds", "awsCreds", "X-Authentication",
            "Authentication", "PHPSESSID", "session", "auth_code", "oauth_verifier", "SAMLResponse", "id_token", "tokens", "device_tokens",
            "password2", "APISig", "passwordConfirmation", "password_hash", "secret_id", "AWSAccessKeyId", "X-Hub-Signature-256", "APIKey",
            "apikey",
            "OAuth2Token", "pin_2", "password\(String(repeating: "x", count: 192))", "input_token", "used_passwords",
            "credentials.password", "totp", "otp", "X-Amz-Security-Token", "connection_string", "sessionToken",
        ])
    func secret(name: String) {
        for kind in [SecretName.Kind.header, .parameter, .field] { #expect(Redaction.secrets.hides(name, as: kind), "\(kind)") }
    }

    @Test(
        "Other names are not, nor are those that tell something about a secret",
        arguments: [
            "author", "authors", "authority", "name", "passage", "passport", "compass", "bypass", "Content-Type", "X-Request-ID", "ETag",
            "keyboard", "monkey", "hotkey", "keywords", "token_type", "tokenType", "tokentype", "password_changed_at", "passwordChangedAt",
            "device_token_id", "max_tokens", "maxTokens", "prompt_tokens", "total_tokens", "x-ratelimit-remaining-tokens", "token_url",
            "token_endpoint", "token_expires_in", "sessions_count", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
            "public_key", "sort_key", "Idempotency-Key", "secretary", "passwordless", "appKeyboard", "authorizations_url",
            "token_endpoint_auth_methods_supported", "WWW-Authenticate", "status_code", "output_text_tokens",
            "password\(String(repeating: "x", count: 193))", "", "-", "7", "é",
        ])
    func harmless(name: String) {
        for kind in [SecretName.Kind.header, .parameter, .field] { #expect(!Redaction.secrets.hides(name, as: kind), "\(kind)") }
    }

    @Test("Some names are those of secrets in headers, queries and forms, and not in JSON")
    func kinds() {
        let table: [(String, header: Bool, parameter: Bool)] = [
            ("code", false, true), ("key", true, true), ("X-Master-Password-Key", true, true), ("X-Custom-Key", true, true),
            ("sid", true, true), ("nonce", true, false),
        ]
        for (name, header, parameter) in table {
            #expect(Redaction.secrets.hides(name, as: .header) == header, "\(name)")
            #expect(Redaction.secrets.hides(name, as: .parameter) == parameter, "\(name)")
        }
        for name in ["code", "key", "custom_key", "sid", "nonce"] { #expect(!Redaction.secrets.hides(name, as: .field), "\(name)") }
    }

    @Test("A name that is added is known in any case, with hyphens and underscores or without, and within others")
    func adding() {
        let redaction = Redaction.none.adding("e-mail", "X_Customer")
        for name in ["email", "E-Mail", "user[email]", "user.email", "x-customer"] { #expect(redaction.hides(name, as: .field), "\(name)") }
        for name in ["emails", "customer", "token", "email.verified"] { #expect(!redaction.hides(name, as: .field), "\(name)") }
    }

    @Test(
        "Secrets in text are left out, and what stands beside them is not",
        arguments: [
            // JSON (RFC 8259)
            (#"{"password":"s3cret","a":1}"#, #"{"password":"…","a":1}"#),
            (#"[{"token":{"a":["s3cret"]}},true]"#, #"[{"token":"…"},true]"#),
            (#"{"token":"s3cr"#, #"{"token":"…""#),
            ("{\"a\":1}\n{\"token\":\"s3cret\"}", "{\"a\":1}\n{\"token\":\"…\"}"),
            (
                #"{"token": 12, "password": null, "hasPassword": true, "secret": ""}"#,
                #"{"token": "…", "password": null, "hasPassword": true, "secret": ""}"#
            ),
            (#"{"data":"{\"password\":\"s3cret\",\"a\":\"\\n\"}"}"#, #"{"data":"{\"password\":\"…\",\"a\":\"\\n\"}"}"#),
            (#"{"url":"https:\/\/u:s3cret@h\/?a=1&token=s3cret&b=2"}"#, #"{"url":"https:\/\/…@h\/?a=1&token=…&b=2"}"#),
            (
                #"[{"name":"password","value":"s3cret"},{"value":7,"key":"X-Api-Key"}]"#,
                #"[{"name":"password","value":"…"},{"value":"…","key":"X-Api-Key"}]"#
            ),
            (#"[["password","s3cret"],["a","b"]]"#, #"[["password","…"],["a","b"]]"#),
            (#"["username","password","email"]"#, #"["username","password","email"]"#),
            (#"{"value":"s3cret","na"#, #"{"value":"…","na"#),
            (#"{"session":{"id":"s3cret","user":{"id":1}}}"#, #"{"session":{"id":"…","user":{"id":1}}}"#),
            (
                #"{"query":"mutation { login(user: \"me\", password: \"s3cret\") { id } }"}"#,
                #"{"query":"mutation { login(user: \"me\", password: \"…\") { id } }"}"#
            ),
            (
                #"mutation($password: String!) { login(password: $password) { id } }"#,
                #"mutation($password: …) { login(password: …) { id } }"#
            ),
            ("event: a\ndata: {\"token\": \"s3cret\", \"n\": 1}\n\n", "event: a\ndata: {\"token\": \"…\", \"n\": 1}\n\n"),
            // a form (WHATWG URL standard)
            ("a=1&user%5Bpassword%5D=s3cret&b=2", "a=1&user%5Bpassword%5D=…&b=2"),
            ("grant_type=password&username=me&client_secret=s3cret", "grant_type=password&username=me&client_secret=…"),
            ("code=s3cret&state=1", "code=…&state=1"),
            ("next=https%3A%2F%2Fa.example%2F%3Ftoken%3Ds3cret%26x%3D1&a=b", "next=https%3A%2F%2Fa.example%2F%3Ftoken%3D…%26x%3D1&a=b"),
            // multipart/form-data (RFC 7578)
            (
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret&s3cret\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n…\r\n--b--"
            ),
            (
                "--b\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\n\ns3cret\n--b\nContent-Type: text/plain\n\na\n--b--\n",
                "--b\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\n\n…\n--b\nContent-Type: text/plain\n\na\n--b--\n"
            ),
            // XML and HTML
            ("<a><password>s3cret</password><b>c</b></a>", "<a><password>…</password><b>c</b></a>"),
            (#"<s:Password Type="x">s3cret</s:Password>"#, #"<s:Password Type="x">…</s:Password>"#),
            (#"<user name="me" password="s3cret"/>"#, #"<user name="me" password="…"/>"#),
            (#"<input type="password" name="pw" value="s3cret"><p>Hello</p>"#, #"<input type="password" name="pw" value="…"><p>Hello</p>"#),
            (#"<input name="pw" type="password"><p>Hello</p>"#, #"<input name="pw" type="password"><p>Hello</p>"#),
            (
                "<dict><key>token</key><string>s3cret</string><key>a</key><string>b</string></dict>",
                "<dict><key>token</key><string>…</string><key>a</key><string>b</string></dict>"
            ),
            ("<p>Password: s3cret</p>", "<p>Password: …</p>"),
            (
                #"<a data-x="{&quot;token&quot;:&quot;s3cret&quot;,&quot;n&quot;:1}">"#,
                #"<a data-x="{&quot;token&quot;:&quot;…&quot;,&quot;n&quot;:1}">"#
            ),
            // text
            ("user: me\npassword: s3cret s3cret\nx: y", "user: me\npassword: …\nx: y"),
            ("user=me\npassword = s3cret", "user=me\npassword = …"),
            ("password:\n  s3cret\n  s3cret\nuser: me", "password:\n  …\nuser: me"),
            ("[error] password=s3cret", "[error] password=…"),
            ("{'password': 's3cret', 'a': 1}", "{'password': '…', 'a': 1}"),
            ("f(token: s3cret, s3cret) and more", "f(token: …) and more"),
            (")]}'\n{\"password\":\"s3cret\"}", ")]}'\n{\"password\":\"…\"}"),
            ("Authorization: Bearer s3cret", "Authorization: …"),
            ("sent Bearer s3cret, twice", "sent Bearer …, twice"),
            ("curl -H 'Basic czNjcmV0' https://h", "curl -H 'Basic …' https://h"),
            ("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl b", "a … b"),
            ("key ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "key …."),
            ("proxy me:s3cret@proxy.example:8080", "proxy …@proxy.example:8080"),
            ("/a;jsessionid=s3cret?b=c", "/a;jsessionid=…"),
            ("-----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY-----\nrest", "…\nrest"),
            ("a -----BEGIN PRIVATE KEY", "a …"),
            ("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"),
            ("data:application/json;base64,eyJ0b2tlbiI6InMzY3JldCJ9", "data:application/json;base64,…"),
        ])
    func redacted(text: String, result: String) {
        #expect(Redactor(for: .report).text(text) == result)
    }

    @Test(
        "What has no secret stays as it is",
        arguments: [
            "", "plain", "Your token has expired.", "a=1&b=2&&c", #"{"message":"Bad credentials"}"#, "<p>The password is wrong</p>",
            "grant_type=password", #"{"a":[1.5e+3,null,true,false]}"#, "a&b; c=d", "expected Array<Token> but found [Token]",
            "the basic plan", "Bearer authentication is required", #"Bearer realm="api", error="invalid_token""#, "mail me@example.com",
            "https://medium.com/@me/post", "12:30:45 lodash@4.17.21", "b1946ac92492d2347c6235b4d2611184",
            "6F9619FF-8B86-D011-B42D-00C04FC964FF", "www.subdomain.example.com", "task_sk-SK", #"{"name":"title","value":"Token ring"}"#,
            " key: v", "the key: v", "a::password::b", "password=\nnext", "password:", "password =", "-password s3cret", "--verbose s3cret",
            "a\ncode = 7\nb", "code = 7", "a code=7", "password: … more", "pw: {a: 1} x", "https://h:8080/x@y", "https://[::1]:8080/x@y",
            "https:/x@y", "at a:b@c x", "at a:1@4.17.21 x", "at u:s3cret@1.2.3 x", "mailto:me@example.com", "at u:@a.example x",
            "at u:x/y@a.example x", "at u:x@host:123456 x", "at u:x@host:80a x", "at u:(x)@a.example x", "curl -x me:7 x", "curl -u me x",
            "a data: b, token c", "data:;base64,aGVsbG8= x", "token&a=1", "=7&a=1", "a=1&token=&b=2", #"<input name="a" value="b" >x"#,
            "<password/>x", "<password />x</password>", "x Array<Token> y", "x <token> y", #"<field name="password"></field>x"#,
            #"<field name="password"/>x"#, #"<field name="password"><b>c</b></field>x"#, #"<field name="a">b</field>x"#,
            "<p>Token <b>x</b></p>", "<dict><key>a</key><string>b</string></dict>", #"{"tokens":[],"a":1}"#, #"{"tokens":{ },"a":1}"#,
            #"["password","s3cret","x"]"#, #"[["password","s3cret","x"]]"#, #"{"name":"password","value":null,"b":1}"#,
            #"{"name":7,"value":"b"}"#, #"{"value":"b","name":"a""#, #"[["a","b""#, #"{"a":"C:\\password\\b"}"#,
            #"{"token":true,"pin":false}"#, "token ghp_12345 x", "a SG.aB3dE5fG7hJ9kL1mN3p b", "a eyJ.b", "a eyJhIjoxfQ b",
            "ab1def2hij3lmn4pq.Ab1dEf2hIj3lMn4pQ.Ab1dEf2hIj3lMn4pQ", "bearer of bad news", "Basic realm=x", "NTLM …",
            "x\nContent-Disposition: form-data; name=\"a\"\n\nb\n--b\nrest", "x\nContent-Disposition: form-data; name=\"password\"",
            "--b\nContent-Disposition: form-data; name=\"a\"\n--b--", "{}", "[]", #"{"a":["password",{"b":"c"}],"d":["x","y"]}"#,
            #"{"a":["password","b"],"c":"d"}"#, "code= 7 x", #"["password","email"]"#, #"{"grants":["password","code"]}"#,
            #"[["a","b","password"]]"#, "at u:@b@a.example x", "a data:", "data:x", "token\n= x", #"{"a":"b\"#, "--token/x y",
            "https://h:/x",
            "Ab1dEf2hIj3lMn4pQ..Ab1dEf2hIj3lMn4pQ.Ab1dEf2hIj3lMn4pQ", "ThisIsALongModuleName.AnotherLongModuleName.YetAnotherLongName",
            "a npm_abcdefgh", "bearer abcdefghijklmno", "x\nContent-Disposition: form-data; name=\"password\"\n", "<p>&quot;a",
            "x %61pi+key%3Av y",
            "data:,API+key:v",
            String(repeating: "https://h/a ", count: 20), #"{"name":"\#(String(repeating: "a-", count: 29))password","value":"b"}"#,
            "a[b", "x data:,", "x data:,y", "Bearer/abc1 x", #""x pw=\n" &quot;x&quot;"#, "password: …", #"{"name":"x-sid","value":"b"}"#,
            "x-eyJabcdefghijkl", "at u:x@host", #"{"npm_abcdefgh":1}"#, "Basic\nabc1", #"{"a":""#, "x <a",
            "<", #"f(name: "password", g(value: "b"))"#, #"name: "password", value: "b") x"#, "a sk-abcdefghijklmnopqrs b",
            "--b\nContent-Disposition: form-data; name=\"password\"\n\n\n\n--b--",
        ])
    func unchanged(text: String) {
        for redactor in [Redactor.Style.sentence, .report, .recording].map({ Redactor(for: $0) }) {
            #expect(redactor.text(text) == text)
            #expect(redactor.body(Data(text.utf8), contentType: nil) == Data(text.utf8))
        }
    }

    @Test(
        "Of a text that goes on, the word at its end and what may be the beginning of a secret are left out",
        arguments: [
            ("x <token>abc def", "x <token>… "), ("npm_abcdefgh is it", "npm_abcdefgh is "), ("at https://u:s3c!ret", "at https://…"),
            ("a\(String(repeating: "-a", count: 150))-npm_ab", "a\(String(repeating: "-a", count: 150))-…"), ("a b", "a "),
            ("a b ", "a b "),
        ])
    func cut(text: String, result: String) {
        #expect(Redactor(for: .report).text(text, isCut: true) == result)
    }

    @Test("Text is looked into through twelve layers, and left out below them")
    func depth() {
        func text(layers: Int, _ end: String) -> String {
            (0..<layers).reduce(end) { text, _ in "a=" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") }
        }
        let redactor = Redactor(for: .report)
        #expect(redactor.text(text(layers: 12, "b&c")) == text(layers: 12, "b&c"))
        #expect(redactor.text(text(layers: 13, "b&c")) == text(layers: 13, "") + "…")
        let urls = String(repeating: "https://h/#", count: 12)
        #expect(redactor.text("\(urls)a") == "\(urls)a")
        #expect(redactor.text("\(urls)https://h/#a") == "\(urls)…")
    }

    @Test("The URL of a request is shown whole, and without its fragment")
    func url() throws {
        let url = try #require(URL(string: "b#c", relativeTo: URL(string: "https://h/a/")))
        #expect(Redactor(for: .report).url(url) == "https://h/a/b")
    }

    @Test("A reference within a server is one in a header, too, and has no user")
    func reference() {
        #expect(Redactor(for: .sentence).header("Location", "/a?b=c") == "/a?b=…")
        #expect(Redactor(for: .sentence).reference("/me@b/c") == "/me@b/c")
    }
}
