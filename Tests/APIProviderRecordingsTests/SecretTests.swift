import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Secrets of recordings", tenMinutes, .longComputing)
struct SecretTests {
    @Test("A signature of digits in a URL of a response is a secret, and a short count under such a name is none")
    func signatureOfDigits() {
        let body = #"{"url":"https://a.example/f?Signature=790550856533&total_tokens=42"}"#
        let text = NewRecording([exchange(answer: body)]).text
        #expect(!text.contains("790550856533") && text.contains("total_tokens=42"), "\(text)")
    }

    @Test(
        "The kind of a secret stays, and all else stays byte for byte",
        arguments: [
            (
                "{\"a\" : 1.50, \"accessToken\":\"abc123def\",\r\n \"d\": [1e5 ]}",
                "{\"a\" : 1.50, \"accessToken\":\"token-001\",\r\n \"d\": [1e5 ]}"
            ),
            (
                #"{"pin":4711,"sessionId":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}"#,
                #"{"pin":1000,"sessionId":"00000000-0000-4000-8000-000000000001"}"#
            ),
            (
                #"{"token":"75e116e1-6258-4e8e-5099-140e25585663","a":"75E116E1-6258-4E8E-5099-140E25585663"}"#,
                #"{"token":"00000000-0000-4000-8000-000000000001","a":"00000000-0000-4000-8000-000000000001"}"#
            ),
            (
                #"{"next":"https://a.example/?page=2&api_key=abc123def#top"}"#,
                #"{"next":"https://a.example/?page=2&api_key=api-key-001#top"}"#
            ),
            (#"{"inner":"{\"secret\":\"abc\\/123def\",\"b\":[1]}"}"#, #"{"inner":"{\"secret\":\"secret-001\",\"b\":[1]}"}"#),
            (
                #"{"dsn":"postgres://bob:s3cr3tWord@db/x","html_url":"https://a.example/b#c"}"#,
                #"{"dsn":"postgres://bob:password-001@db/x","html_url":"https://a.example/b#c"}"#
            ),
            (
                #"{"message":"Bearer abc123DEF456 has expired","k":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}"#,
                #"{"message":"Bearer authorization-001 has expired","k":"key-0001"}"#
            ),
            (
                #"{"k":"-----BEGIN RSA PRIVATE KEY-----\nMIIEabc123\n-----END RSA PRIVATE KEY-----\n","sub":"x"}"#,
                #"{"k":"-----BEGIN RSA PRIVATE KEY-----\nprivate-key-001\n-----END RSA PRIVATE KEY-----\n","sub":"x"}"#
            ),
            (
                #"{"k":"-----BEGIN CERTIFICATE-----\nMIIEabc123\n-----END CERTIFICATE-----\n"}"#,
                #"{"k":"-----BEGIN CERTIFICATE-----\nMIIEabc123\n-----END CERTIFICATE-----\n"}"#
            ),
            // Too short to look random, and a key without a digit.
            (
                #"{"message":"Bearer abc123DEF has expired","k":"hf_xVgKlMnOpQrStUvWxYzAbCdEfGhIjKlMnO"}"#,
                #"{"message":"Bearer abc123DEF has expired","k":"key-0001"}"#
            ),
            // Around a secret that is known, only the secret is replaced.
            (
                #"{"access_token":"Zq81kdPq02LmsX9a","note":"Bearer Zq81kdPq02LmsX9a/v2 has expired"}"#,
                #"{"access_token":"token-001","note":"Bearer token-001/v2 has expired"}"#
            ),
            // Words that begin as credentials do.
            (
                #"{"plan":"Basic Subscription","hint":"Bearer Authentication","o":"Subscription ends"}"#,
                #"{"plan":"Basic Subscription","hint":"Bearer Authentication","o":"Subscription ends"}"#
            ),
            (
                "ghost_writers_of_the_world skeleton_component_loader AIRPORT_TERMINAL_CODES_2026",
                "ghost_writers_of_the_world skeleton_component_loader AIRPORT_TERMINAL_CODES_2026"
            ),
            (
                #"{"repo":"https://k3J9x8QzLm2P@git.example/a","ssh":"ssh://git@git.example/a"}"#,
                #"{"repo":"https://user-001@git.example/a","ssh":"ssh://git@git.example/a"}"#
            ),
            // As texts and as numbers, they have one placeholder.
            (
                #"{"token":"1234567890123456789","id":1234567890123456789,"longer":12345678901234567891}"#,
                #"{"token":"1000000000000000000","id":1000000000000000000,"longer":12345678901234567891}"#
            ),
            (#"{"settings":[{"value":"abc123DEF","name":"api_key"}]}"#, #"{"settings":[{"value":"api-key-001","name":"api_key"}]}"#),
            ("token-001: no secret", "token-001: no secret"), ("42", "42"), ("\"pong\"", "\"pong\""), ("[]", "[]"), ("{\"a\":", "{\"a\":"),
        ])
    func kinds(body: String, recorded: String) {
        let recording = NewRecording([exchange(answer: body)])
        #expect(recording.answer() == recorded)
        #expect(recording.problems == [])
    }

    @Test(
        "Forms, multipart bodies, XML, HTML, events, lines, and what is almost JSON are searched",
        arguments: [
            ("application/x-www-form-urlencoded", "a=1&password=x%20y&b=2", "a=1&password=password-001&b=2"),
            ("", "a=1&password=x+y&b=2", "a=1&password=password-001&b=2"),
            // An escape of another charset than UTF-8 moves no place.
            ("", "a=caf%E9&password=x1y&b=2", "a=caf%E9&password=password-001&b=2"),
            (
                "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx y\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npassword-001\r\n--b--\r\n"
            ),
            (
                "multipart/mixed; boundary=b", "--b\r\nContent-Type: application/json\r\n\r\n{\"password\":\"x y\"}\r\n--b--",
                "--b\r\nContent-Type: application/json\r\n\r\n{\"password\":\"password-001\"}\r\n--b--"
            ),
            ("text/xml", "<a><s:Password>x y</s:Password><b>c</b></a>", "<a><s:Password>password-001</s:Password><b>c</b></a>"),
            ("text/xml", "<a><pin>7</pin><b/><c></c></a>", "<a><pin>1</pin><b/><c></c></a>"),
            (
                "text/xml", "<a><password><![CDATA[x<y ]] & z]]></password><b><![CDATA[c]]></b></a>",
                "<a><password><![CDATA[password-001]]></password><b><![CDATA[c]]></b></a>"
            ),
            ("text/xml", "<a><password>\n  x y\n </password></a>", "<a><password>\n  password-001\n </password></a>"),
            (
                "text/xml", "<c><property name=\"password\">x</property><add key=\"apiKey\" value=\"a1B2c3D4\"/></c>",
                "<c><property name=\"password\">password-001</property><add key=\"apiKey\" value=\"api-key-001\"/></c>"
            ),
            ("text/plain", "token=a1B2c3D4", "token=token-001"), ("text/plain", "token=a1B2c3D4\n", "token=token-001\n"),
            ("text/plain", "token=a1B2c3D4,user=7 a1B2c3D4.", "token=token-001,user=7 token-001."),
            ("text/plain", "export API_KEY='a1B2c3D4'; secret: a1B2c3D5\n", "export API_KEY='api-key-001'; secret: secret-001\n"),
            ("application/json", #"{"password":"[Hunter2!x]","passCode":482913}"#, #"{"password":"password-001","passCode":100000}"#),
            ("text/plain", "token=makeToken(id: 1)", "token=makeToken(id: 1)"),
            ("text/plain", "log: {\"password\": \"x y", "log: {\"password\": \"password-001"),
            (
                "text/plain", #"log: {"password":"corr3ct \" horse 9","kind":"open"} and "#,
                #"log: {"password":"password-001","kind":"open"} and "#
            ),
            (
                "application/json", #"{"query":"mutation { login(email: \"a@b.c\", password: \"x y\") { t } }"}"#,
                #"{"query":"mutation { login(email: \"a@b.c\", password: \"password-001\") { t } }"}"#
            ),
            (
                "application/json", #"{"query":"mutation { login(password: \"\"\"x y\"\"\") { t } }"}"#,
                #"{"query":"mutation { login(password: \"\"\"password-001\"\"\") { t } }"}"#
            ), ("application/json", #"{"pass\u0077ord":"hunter2"}"#, #"{"pass\u0077ord":"password-001"}"#),
            ("application/x-www-form-urlencoded", "pass%77ord=hunter2&a=1", "pass%77ord=password-001&a=1"),
            ("text/event-stream", "data: {\"password\": \"x1y\", \"n\": 1}\n\n", "data: {\"password\": \"password-001\", \"n\": 1}\n\n"),
            (
                "text/event-stream", "event: a\ndata: {\"token\":\ndata: \"abc123DEF456\"}\n\ndata: 2\n\n",
                "event: a\ndata: {\"token\":\ndata: \"token-001\"}\n\ndata: 2\n\n"
            ),
            ("application/x-ndjson", "{\"token\":\"abc123DEF456\"}\r\n{\"n\":", "{\"token\":\"token-001\"}\r\n{\"n\":"),
            ("text/yaml", "db:\n  password: abc123DEF\n  name: x\n", "db:\n  password: password-001\n  name: x\n"),
            ("text/plain", "['password' => 'abc123DEF', :token=>\"abc123XYZ\"]", "['password' => 'password-001', :token=>\"token-001\"]"),
            ("text/html", "<a href='/x?a=1&amp;password=abc123DEF'>", "<a href='/x?a=1&amp;password=password-001'>"),
            (
                "text/html", "<div data-props=\"{&quot;csrfToken&quot;:&quot;abc123DEF&quot;,&quot;n&quot;:1}\">",
                "<div data-props=\"{&quot;csrfToken&quot;:&quot;token-001&quot;,&quot;n&quot;:1}\">"
            ), ("text/plain", "next=%2Flogin%3Fpassword%3Dabc123DEF%26n%3D1", "next=%2Flogin%3Fpassword%3Dpassword-001%26n%3D1"),
            (
                "text/html",
                "<meta name=\"csrf-token\" content=\"Zk39&#43;kE02\"><input value='Zk39+kE03' type=hidden name='authenticity_token'>",
                "<meta name=\"csrf-token\" content=\"token-001\"><input value='token-002' type=hidden name='authenticity_token'>"
            ),
            (
                "text/html", "<p>x<script>window.token = \"Zk39dkE02\"; var a = {token: 'Zk39dkE03'}</script>",
                "<p>x<script>window.token = \"token-001\"; var a = {token: 'token-002'}</script>"
            ),
            ("application/json", "\u{FEFF}{\"access_token\":\"Planted33aa\"}", "\u{FEFF}{\"access_token\":\"token-001\"}"),
        ])
    func bodies(type: String, body: String, recorded: String) {
        let isStream = type == "text/event-stream"
        let sent = exchange("POST", headers: type.isEmpty ? [:] : ["Content-Type": type], body: body)
        let recording = NewRecording([isStream ? exchange(answer: body, type: type) : sent])
        #expect((isStream ? recording.answer() : recording.body()) == recorded)
        #expect(recording.problems == [])
    }

    @Test(
        "A secret is replaced wherever it stands, in each notation",
        arguments: ["pä/\"s w0rd&1", "Qx7+k/9ZpT2mWv3b+Yc4A==", "back\\slash\\n9x", "Zq9&b=c%41x", "<b>'b0ld'</b>"])
    func notations(secret: String) {
        let json = String(decoding: (try? JSONEncoder().encode(secret)) ?? Data(), as: UTF8.self)
        // By day, every third of some 250.
        for (number, spelling) in secret.spellings.sorted().enumerated() where isNight || number % 3 == secret.utf8.count % 3 {
            let recording = NewRecording([
                sending("{\"password\":\(json)}", answer: "before \(spelling) after"), exchange(answer: "x", at: 1),
            ])
            #expect(recording.problems == [] && recording.answer() == "before password-001 after", "\(recording.answer())")
        }
        #expect(secret.spellings.count > 14)
    }

    @Test(
        "A secret of a header, a cookie or a query is replaced there, and where it stands without its quotes and escapes",
        arguments: [
            ("AUTHORIZATION", "Bearer correct-horse-9", "", "correct-horse-9"),
            ("Authorization", "Bearer  correct-horse-9", "", "correct-horse-9"),
            ("Authorization", "Bearer\tcorrect-horse-9", "", "correct-horse-9"),
            ("Authorization", "Basic  YW5uOmNvcnJlY3QtaG9yc2UtOQ", "", "correct-horse-9"),
            ("Cookie", "a=correctHorse0123456; b=c", "", "correctHorse0123456"),
            ("Cookie", "b=c; a=\"correctHorse0123456\"", "", "correctHorse0123456"),
            ("Cookie", "a=correct%20horse%20battery", "", "correct horse battery"),
            ("X-Authorization", "ApiKey correct-horse-9", "", "correct-horse-9"),
            ("X-Passphrase", "correct horse battery", "", "correct horse battery"),
            ("Authorization", "Token token=\"correct-horse-1\", nonce=\"n\"", "", "correct-horse-1"),
            ("Ocp-Apim-Subscription-Key", "correct-horse", "", "correct-horse"), ("X-Auth", "correct-horse", "", "correct-horse"),
            ("Accept", "*/*", "?jwt=correct-h0rse9&appid=1", "correct-h0rse9"),
            ("Accept", "*/*", "?token_v2=correct-horse", "correct-horse"),
            ("Accept", "*/*", "?a=b&password=correct+horse", "correct horse"),
        ])
    func places(header: String, value: String, query: String, secret: String) {
        let recording = NewRecording([
            exchange("GET", "https://a.example/\(query)", headers: [header: value], answer: "It was \(secret).", type: "text/plain")
        ])
        #expect(
            recording.problems == [] && !recording.text.contains("orse") && recording.answer().contains("-00"), "\(recording.text)")
    }

    @Test("Of Basic authentication, the password is a secret everywhere, and the user where it is named")
    func basic() {
        let header = "Basic \(Data("octocat:s3cretWord".utf8).base64EncodedString())"
        let recording = NewRecording([exchange(headers: ["Authorization": header], answer: #"{"login":"octocat","echo":"s3cretWord"}"#)])
        #expect(recording.replacer.exchanges[0].headers["Authorization"] == "Basic user-001:password-001")
        #expect(recording.answer() == #"{"login":"octocat","echo":"password-001"}"#)
    }

    @Test("User and password of Basic authentication have a placeholder each, also if both together are a secret elsewhere")
    func basicOfToken() throws {
        func request(_ credential: String) -> RecordedExchange {
            sending("{\"token\":\"\(credential)\"}", headers: ["Authorization": "Basic \(Data(credential.utf8).base64EncodedString())"])
        }
        let recording = NewRecording([request("Zq81kdPq02LmsX9a:s3cretWord9")])
        #expect(recording.replacer.exchanges[0].headers["Authorization"] == "Basic user-001:password-001")
        #expect(recording.body() == #"{"token":"token-001"}"#)
        var replay = recording.replay
        #expect(throws: Never.self) { try replay.entry(for: request("7xKq20PdLm91sZaB:0therWord7")).get() }
    }

    @Test("A password that begins with a plain word is a secret, although the word alone is replaced under its name alone")
    func plainBeginning() {
        let answer = #"{"dsn":"postgres://bob:correcthorse-4-ever@db/x","note":"a correcthorse"}"#
        let recording = NewRecording([sending(#"{"password":"correcthorse"}"#, answer: answer)])
        #expect(recording.body() == #"{"password":"password-001"}"#)
        #expect(recording.answer() == #"{"dsn":"postgres://bob:password-002@db/x","note":"a correcthorse"}"#)
    }

    @Test("A plain password of Basic authentication has a placeholder, as any other")
    func plainPassword() {
        let header = "Basic \(Data("ann:correcthorse".utf8).base64EncodedString())"
        let recording = NewRecording([exchange(headers: ["Authorization": header])])
        #expect(recording.problems == [] && recording.replacer.exchanges[0].headers["Authorization"] == "Basic user-001:password-001")
    }

    @Test("Each of several cookies in one field is a secret of its own, and so is what JSON in a cookie has")
    func cookies() {
        let json = #"{"id":"a1b2c3d4e5f6a7b8","theme":"dark"}"#.escapedAsValue
        let recording = NewRecording([
            exchange(
                headers: ["Cookie": "prefs=\(json)"], answer: "a1b2c3d4e5f6a7b8",
                responseHeaders: ["Set-Cookie": "a=one-x1, b=two-y2; Path=/, c=one-x1; Expires=Thu, 01 Jan 2026 00:00:00 GMT"])
        ])
        #expect(
            recording.replacer.exchanges[0].response?.headers["Set-Cookie"]
                == "a=cookie-004, b=cookie-005; Path=/, c=cookie-004; Expires=Thu, 01 Jan 2026 00:00:00 GMT")
        #expect(!recording.text.contains("a1b2c3d4e5f6a7b8") && recording.problems == [], "\(recording.problems) \(recording.text)")
    }

    @Test("A cookie of words is replaced in cookies alone", arguments: ["eu-west-1", "Europe/Berlin", "octocat-dev42", "open"])
    func wordsInCookies(value: String) {
        let recording = NewRecording([
            exchange("GET", "https://a.example/a", answer: "[\"\(value)\"]", responseHeaders: ["Set-Cookie": "a=\(value); Path=/"]),
            exchange("GET", "https://a.example/b?region=\(value)", headers: ["Cookie": "a=\(value)"], at: 1),
        ])
        #expect(recording.problems == [] && recording.answer() == "[\"\(value)\"]", "\(recording.problems)")
        #expect(recording.replacer.exchanges[0].response?.headers["Set-Cookie"] == "a=cookie-001; Path=/")
        #expect(recording.replacer.exchanges[1].headers["Cookie"] == "a=cookie-001")
        #expect(recording.replacer.exchanges[1].url == "https://a.example/b?region=\(value)")
    }

    @Test("The key of Basic without a password is replaced in responses, too, and a user's name is not")
    func basicKey() {
        for (user, isSecret) in [("sk8rB0iKeyOf16bytes", true), ("ann.smith92", false), ("octocat-dev42", false)] {
            let basic = "Basic \(Data("\(user):".utf8).base64EncodedString())"
            let recording = NewRecording([exchange(headers: ["Authorization": basic], answer: "[\"for \(user)\"]")])
            #expect(recording.problems == [] && recording.text.contains("for \(user)") != isSecret, "\(recording.text)")
            #expect(recording.warnings == [])
        }
    }

    @Test("keeping: leaves a cookie by its exact name")
    func keptCookie() {
        let cookies = "lang=de-DE-2024-abcdef0123; sid=abcDEF123456789xyz"
        let recording = NewRecording([exchange(headers: ["Cookie": cookies])], RecordingOptions(keeping: ["sid"]))
        #expect(recording.replacer.exchanges[0].headers["Cookie"] == "lang=cookie-001; sid=abcDEF123456789xyz")
    }

    @Test("A cookie stays if the app sent the same text in the open before")
    func openCookie() throws {
        let id = "x9Kq2vL0pT7wZ3nB8rYd"
        let requests = [
            exchange("GET", "https://a.example/users/\(id)", responseHeaders: ["Set-Cookie": "a=\(id); Path=/"]),
            exchange("GET", "https://a.example/b", headers: ["Cookie": "a=\(id)"], answer: "[\"\(id)\"]", at: 1),
        ]
        let recording = NewRecording(requests)
        #expect(recording.problems == [] && recording.answer(1) == "[\"\(id)\"]")
        #expect(recording.replacer.exchanges[0].response?.headers["Set-Cookie"] == "a=\(id); Path=/")
        // Another user's is no answer.
        var replay = recording.replay
        let other = exchange("GET", "https://a.example/b", headers: ["Cookie": "a=y9Kq2vL0pT7wZ3nB8rYd"])
        #expect(throws: Replay.Failure.self) { try replay.entry(for: other).get() }
        #expect(try replay.entry(for: requests[1]).get() == 1)
    }

    @Test("What the environment holds under a name of the list is a secret wherever it stands, if it looks random")
    func environment() {
        let environment = ["GITHUB_TOKEN": "abcDEF123456xyz", "MY_PASSWORD": "production", "PATH": "abcDEF123456path"]
        let request = exchange("GET", "https://a.example/teams/abcDEF123456xyz/abcDEF123456path?env=production")
        let recording = NewRecording([request], environment: environment)
        #expect(recording.replacer.exchanges[0].url == "https://a.example/teams/token-001/abcDEF123456path?env=production")
        #expect(recording.replay.placeholders.places == ["token-001": ["path 2"]])
    }

    @Test("What the program marks is a secret wherever it stands, and a short one as a whole value of its request")
    func marked() {
        var request = sending(
            #"{"query":"mutation { pay(key: \"customer-of-letters-77\") { id } }","user":"joe","note":"joey"}"#,
            to: "https://a.example/users/joe")
        request.markedSecrets = ["customer-of-letters-77", "joe"]
        let recording = NewRecording([request, exchange("GET", "https://a.example/users/joe", at: 1)])
        #expect(recording.body() == #"{"query":"mutation { pay(key: \"secret-001\") { id } }","user":"secret-002","note":"joey"}"#)
        #expect(recording.replacer.exchanges.map(\.url) == ["https://a.example/users/secret-002", "https://a.example/users/joe"])
    }

    @Test("Nothing is replaced in the scheme, the host and the port of a URL; a secret there is refused")
    func hosts() {
        let recording = NewRecording([exchange("GET", "https://tenantabc123x.example:8080/?token=tenantabc123x")])
        #expect(recording.replacer.exchanges[0].url == "https://tenantabc123x.example:8080/?token=token-001")
        #expect(recording.problems.count == 1 && recording.problems[0].hasPrefix("GET … has token-001 in its URL"), "\(recording.problems)")
    }

    @Test("A text that stands in the traffic is no placeholder", arguments: ["token-001", "see token-001.", "token-001 token-002"])
    func standingPlaceholders(text: String) {
        let next = text.hasSuffix("002") ? "token-003" : "token-002"
        let answer = NewRecording([exchange(answer: "{\"note\":\"\(text)\",\"token\":\"abc123DEF456\"}")]).answer()
        #expect(answer == "{\"note\":\"\(text)\",\"token\":\"\(next)\"}")
    }

    @Test(
        "JSON stays JSON if a number is hidden, whatever its notation",
        arguments: ["48.137154", "-5", "1e5", "0", "-0.0", "1234567890123456789", "123456789012345678901234567890", "2.5E-3", "7.25"])
    func notationsOfNumbers(number: String) throws {
        let answer = NewRecording([exchange(answer: "{\"n\":\(number),\"b\":[1]}")], RecordingOptions(hiding: ["n"])).answer()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
        let value = try #require(object["n"] as? NSNumber)
        #expect("\(value)" != number && (value.doubleValue < 0) == number.hasPrefix("-"), "\(answer)")
        #expect(!number.contains(".") || answer.contains("."), "\(answer)")
    }

    @Test("Numbers of few digits have placeholders of their own", arguments: [10, 150])
    func fewDigits(count: Int) throws {
        let pins = (0..<count).map { "\($0)" }
        let answer = NewRecording([exchange(answer: "[\(pins.map { "{\"pin\":\($0)}" }.joined(separator: ","))]")]).answer()
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [[String: Int]])
        #expect(Set(objects.compactMap { $0["pin"] }).count == count)
    }

    @Test("Texts that differ in their bytes alone are secrets of their own, and no spelling of either is in the file")
    func compositions() throws {
        let (composed, decomposed) = ("caf\u{E9}-s3cret", "cafe\u{301}-s3cret")
        for secrets in [[composed], [decomposed], [composed, decomposed], [decomposed, composed]] {
            let requests = secrets.enumerated().map { index, secret -> RecordedExchange in
                let answer = "{\"a\":\"\(composed)\",\"b\":\"It is \(decomposed)\"}"
                return sending("{\"password\":\"\(secret)\"}", answer: index == secrets.count - 1 ? answer : "{}", at: index)
            }
            let recording = NewRecording(requests)
            #expect(recording.problems == [] && !recording.text.contains("s3cret"), "\(recording.text)")
            var replay = recording.replay
            for (index, request) in requests.enumerated() { #expect(try replay.entry(for: request).get() == index) }
        }
        // Another spelling is another password.
        var replay = NewRecording([sending("{\"password\":\"\(composed)\"}"), sending("{\"password\":\"\(composed)\",\"n\":1}", at: 1)])
            .replay
        _ = try replay.entry(for: sending("{\"password\":\"\(composed)\"}")).get()
        #expect(throws: Replay.Failure.self) { try replay.entry(for: sending("{\"password\":\"\(decomposed)\",\"n\":1}")).get() }
    }

    @Test("The key of a service is no open text, although the app has sent it under another name")
    func openKeys() {
        let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        #expect(!NewRecording([sending("{\"note\":\"\(key)\"}", answer: "{\"note\":\"\(key)\"}")]).text.contains(key))
    }

    @Test(
        "What the program marks is replaced wherever it stands if it has eight bytes, also a plain word",
        arguments: ["correcthorse", "joe-7.x9"])
    func markedWords(secret: String) {
        var request = exchange("GET", "https://a.example/u/\(secret)/x", answer: "{\"a\":\"Dear \(secret)!\"}")
        request.markedSecrets = [secret]
        let recording = NewRecording([
            request, exchange("GET", "https://a.example/", answer: "<p>\(secret)\u{301}</p>", type: "text/html", at: 1),
        ])
        #expect(recording.problems == [] && !recording.text.contains(secret), "\(recording.text)")
    }

    // MARK: - JWTs

    @Test(
        "A JWT stays a JWT: its signature is a placeholder, its claims are redacted as JSON is, and those of a person stay elsewhere")
    func jwts() throws {
        let token = jwt(
            #"{"sub":"me","exp":1900000000,"email":"ann@corp.example","name":"Ann Smith","azp":"client-of-mine","api_key":"abc123DEF"}"#)
        let basic = "Basic \(Data("client-of-mine:s3cretWord".utf8).base64EncodedString())"
        let recording = NewRecording([
            exchange("POST", headers: ["Authorization": basic], answer: "{\"t\":\"\(token)\",\"me\":\"ann@corp.example\"}"),
            exchange("GET", "https://a.example/me", headers: ["Authorization": "Bearer \(token)"], at: 1),
        ])
        let claims = #"{"sub":"me","exp":1900000000,"email":"email","name":"name","azp":"user-001","api_key":"api-key-001"}"#
        #expect(recording.answer() == "{\"t\":\"\(jwt(claims, "authorization-001"))\",\"me\":\"ann@corp.example\"}")
        #expect(recording.replacer.exchanges[1].headers["Authorization"] == "Bearer \(jwt(claims, "authorization-001"))")
        #expect(recording.problems == [])
    }

    @Test("A person's claim is replaced although the text is a user of Basic authentication or a short password, too")
    func claimsOfUsers() {
        let token = jwt(#"{"email":"ann@corp.example","name":"annie"}"#)
        let basic = "Basic \(Data("ann@corp.example:annie".utf8).base64EncodedString())"
        let recording = NewRecording([exchange("POST", headers: ["Authorization": basic], answer: "[\"\(token)\"]")])
        #expect(recording.problems == [])
        let answer = recording.answer(), claims = answer.split(separator: ".").dropFirst().first.flatMap { Data(base64URL: String($0)) }
        #expect(claims.map { String(decoding: $0, as: UTF8.self) }?.contains("ann") == false, "\(answer)")
    }

    @Test("A kept name keeps a person's claim")
    func keptClaims() {
        let token = jwt(#"{"email":"ann@corp.example","name":"Ann Smith"}"#)
        let recording = NewRecording(
            [exchange("GET", "https://a.example/login", answer: "[\"\(token)\"]")], RecordingOptions(keeping: ["name"]))
        #expect(recording.answer() == "[\"\(jwt(#"{"email":"email","name":"Ann Smith"}"#, "token-001"))\"]")
    }

    @Test("A claim that says who has recorded stays if the app has sent it in the open")
    func openClaims() {
        let token = jwt(#"{"email":"ann@corp.example"}"#)
        let recording = NewRecording([sending(#"{"user":"ann@corp.example","password":"x"}"#, answer: "[\"\(token)\"]")])
        #expect(recording.answer() == "[\"\(jwt(#"{"email":"ann@corp.example"}"#, "token-001"))\"]")
        // Also if no response has it, or the app sends it only later.
        for asks in [["Authorization": "Bearer \(token)"], [:]] as [HTTPHeaders] {
            let recording = NewRecording([
                exchange("GET", "https://a.example/login", answer: asks.isEmpty ? "[\"\(token)\"]" : "[]"),
                exchange("GET", "https://a.example/users?email=ann%40corp.example", headers: asks, answer: "[]", at: 1),
            ])
            #expect(recording.problems == [])
            #expect(recording.replacer.exchanges[1].url == "https://a.example/users?email=ann%40corp.example")
        }
    }

    @Test("A claim of a person is replaced whatever stands around its text")
    func spacedClaims() throws {
        let token = jwt(#"{"given_name":"Anna Schmidt ","name":"Token Smith"}"#)
        let recording = NewRecording([exchange("GET", "https://a.example/login", answer: "[\"\(token)\"]")])
        #expect(recording.problems == [])
        let parts = recording.answer().split(separator: ".")
        let claims = try #require(Data(base64URL: String(parts[1]))).map { $0 }
        let text = String(decoding: claims, as: UTF8.self)
        #expect(text.contains("given_name") && !text.contains("Anna") && !text.contains("Smith"), "\(text)")
    }

    @Test(
        "A JWT has three parts, the first two of which are objects of JSON (RFC 7519, section 3)",
        arguments: [
            ("HEAD.CLAIMS.c2lnbmF0dXJl", true), ("HEAD..CLAIMS.c2lnbmF0dXJl", false), ("HEAD.CLAIMS", false), ("HEAD.CLAIMS.", false),
            ("HEAD.CLAIMS.c2lnbmF0dXJl.c2lnbmF0dXJl", false), ("HEAD.c2lnbmF0dXJl.c2lnbmF0dXJl", false),
            ("HEAD.CLAIMS.c2ln/mF0dXJl", false), ("HEAD.CLAIMS.c2l", false),
        ])
    func isJWT(text: String, isJWT: Bool) {
        let (head, claims) = (Data(#"{"alg":"HS256"}"#.utf8).base64URL, Data(#"{"sub":"me"}"#.utf8).base64URL)
        #expect(text.replacingOccurrences(of: "HEAD", with: head).replacingOccurrences(of: "CLAIMS", with: claims).isJWT == isJWT)
    }

    // MARK: - Refusals

    @Test(
        "A secret that cannot be replaced keeps the file from being written, and the sentence names the request, the place and the cure",
        arguments: [
            (
                exchange("POST", "https://a.example/up?token=abc123def", headers: ["Content-Type": "image/png"], body: "\0\u{1}abc123def"),
                "POST https://a.example/up has token-001 in the binary body, in a notation that is not replaced. To write it otherwise: "
                    + "editing: { $0.body = … }"
            ),
            (
                exchange("POST", "https://a.example/up", headers: ["Content-Encoding": "gzip"], body: "abc"),
                "POST https://a.example/up has a body with the Content-Encoding gzip, in which no secret can be found. While recording, send it "
                    + "uncompressed."
            ),
            (
                exchange("GET", "https://a.example/h?token=abc123def%2B", responseHeaders: ["X-Trace": "YWJjMTIzZGVmKw=="]),
                "GET https://a.example/h has token-001 in the header X-Trace of its response, in a notation that is not replaced. To write it "
                    + "otherwise: editing: { $0.response?.headers[\"X-Trace\"] = … }"
            ),
        ])
    func refusals(exchange: RecordedExchange, sentence: String) { #expect(NewRecording([exchange]).problems.first == sentence) }

    @Test("A secret in a body that is no text in UTF-8 is refused")
    func charsets() throws {
        for (type, encoding) in [
            ("application/json; charset=utf-16le", String.Encoding.utf16LittleEndian), ("text/plain; charset=iso-8859-1", .isoLatin1),
            ("application/json", .utf16BigEndian), ("application/json; charset=shift_jis", .shiftJIS),
        ] {
            var exchange = exchange(type: type)
            exchange.response?.body = try #require(
                "{\"a\":\"\(encoding == .shiftJIS ? "月" : "ä")\",\"password\":\"corr3ct-horse\"}".data(using: encoding))
            let problems = NewRecording([exchange]).problems
            #expect(problems.first?.contains("has password-001 in the binary body of its response") == true, "\(type): \(problems)")
        }
        var binary = exchange("GET", "https://a.example/?token=ghp_16C7e42F292c6912E7710c838347Ae178B4a", type: "application/x-protobuf")
        binary.response?.body = Data([0xFF, 0x00]) + Data("ghp_16C7e42F292c6912E7710c838347Ae178B4a".utf8)
        #expect(NewRecording([binary]).problems.first?.contains("in the binary body of its response") == true)
        binary.url = "https://a.example/"
        #expect(NewRecording([binary]).problems.first?.contains("has key-0001 in the binary body") == true)
    }

    @Test("A short or plain secret that stays where it has its name is refused", arguments: ["hunter2", "correcthorse"])
    func common(secret: String) {
        let fields = ["name=\"password\"\r\n\r\n\(secret)", "name=\"photo\"; filename=\"a\"\r\n\r\n\0\u{1}"]
        let parts = fields.map { "--b\r\nContent-Disposition: form-data; \($0)\r\n" }.joined() + "--b--\r\n"
        let problems = NewRecording([exchange("POST", headers: ["Content-Type": "multipart/form-data; boundary=b"], body: parts)]).problems
        #expect(problems.count == 1 && problems[0].contains("has password-001 in the binary body"), "\(problems)")
    }

    @Test("No sentence has a secret: it has the URL with placeholders, or none if a secret is in the host")
    func sentences() {
        func request(_ url: String, _ headers: HTTPHeaders = [:], answer: String = "{}") -> RecordedExchange {
            var request = exchange("POST", url, headers: headers, body: "abc", answer: answer)
            request.markedSecrets = ["s3cret-of-ann"]
            return request
        }
        let answer = "{\"s3cret-of-ann\":\"abc123DEF456\"}"
        let refused = NewRecording([
            request("https://a.example/u/s3cret-of-ann?x=1", ["Content-Encoding": "gzip"]), request("https://s3cret-of-ann.example/"),
        ])
        let written = NewRecording(
            [request("https://a.example/u/s3cret-of-ann", answer: answer)], RecordingOptions(hiding: ["s3cret-of-an"]))
        #expect(refused.problems.count == 2 && written.problems == [] && written.warnings.count == 1, "\(written.warnings)")
        for sentence in refused.problems + written.warnings { #expect(!sentence.contains("s3cret-of-ann"), "\(sentence)") }
    }

    @Test("A secret that is the name of a member is replaced, and a replay has the text of the app there")
    func names() throws {
        let recording = NewRecording([exchange("GET", "https://a.example/k?token=abc123def", answer: #"{"abc123def":{"kind":1}}"#)])
        #expect(recording.problems == [] && recording.answer() == #"{"token-001":{"kind":1}}"#)
        var replay = recording.replay
        _ = try replay.entry(for: exchange("GET", "https://a.example/k?token=xyz789uvw")).get()
        let writer = ResponseWriter(placeholders: replay.placeholders, texts: replay.bindings.texts, elapsed: 0)
        let body = writer.body(Data(recording.answer().utf8), "application/json")
        #expect(String(decoding: body, as: UTF8.self) == #"{"xyz789uvw":{"kind":1}}"#)
    }
}
