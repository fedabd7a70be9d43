import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Secrets of recordings", tenMinutes)
struct SecretTests {
    private func recording(
        _ body: String, type: String = "application/json", of url: String = "https://a.example/", isRequest: Bool = false,
        hiding hidden: [String] = [], keeping kept: [String] = []
    ) throws -> NewRecording {
        var exchange = RecordedExchange(method: "POST", url: url)
        if isRequest { exchange.headers = [.init(name: "Content-Type", value: type)] }
        exchange.body = isRequest ? Array(body.utf8) : []
        exchange.response = .init(
            status: 200, headers: [.init(name: "Content-Type", value: type)], body: isRequest ? [] : Array(body.utf8))
        exchange.order = (0, 1)
        return try NewRecording(
            [exchange], RecordingOptions(names: SecretNames(hiding: hidden, keeping: kept)), test: nil, name: "a.har")
    }

    private func body(_ text: String, type: String = "application/json", isRequest: Bool = false) throws -> String {
        let exchange = try recording(text, type: type, isRequest: isRequest).exchanges[0]
        return String(decoding: (isRequest ? exchange.body : exchange.response?.body) ?? [], as: UTF8.self)
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
                #"{"pin":900000001,"sessionId":"00000000-0000-4000-8000-000000000001"}"#
            ),
            (#"{"password":"admin","role":"admin"}"#, #"{"password":"password-001","role":"admin"}"#),
            // One of a few digits, or a number of JSON, may stand elsewhere by chance; a UUID of digits and "e" does not.
            (
                #"{"password":"12-34","a":["12-34"],"pin":"0.123456789012e4","b":"0.123456789012e4"}"#,
                #"{"password":"password-001","a":["12-34"],"pin":"pin-001","b":"0.123456789012e4"}"#
            ),
            (
                #"{"token":"75e116e1-6258-4e8e-5099-140e25585663","a":"75e116e1-6258-4e8e-5099-140e25585663"}"#,
                #"{"token":"00000000-0000-4000-8000-000000000001","a":"00000000-0000-4000-8000-000000000001"}"#
            ),
            (
                #"{"session":"open","token":"none","token_type":"bearer","total_tokens":21,"next_token":7}"#,
                #"{"session":"open","token":"none","token_type":"bearer","total_tokens":21,"next_token":7}"#
            ),
            (
                #"{"token":{"id":"x1y2z3w4q5"},"pinned":1,"pin":{"lat":48.1}}"#,
                #"{"token":{"id":"x1y2z3w4q5"},"pinned":1,"pin":{"lat":48.1}}"#
            ),
            (
                #"{"next":"https://a.example/?page=2&api_key=abc123def#top"}"#,
                #"{"next":"https://a.example/?page=2&api_key=api-key-001#top"}"#
            ),
            (#"{"inner":"{\"secret\":\"abc\\/123def\",\"b\":[1]}"}"#, #"{"inner":"{\"secret\":\"secret-001\",\"b\":[1]}"}"#),
            (
                #"{"dsn":"postgres://bob:s3cr3tWord@db/x","html_url":"https://a.example/b#c"}"#,
                #"{"dsn":"postgres://user-001:password-001@db/x","html_url":"https://a.example/b#c"}"#
            ),
            (
                #"{"message":"Bearer abc123DEF456 has expired","k":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}"#,
                #"{"message":"Bearer authorization-001 has expired","k":"key-001"}"#
            ),
            (
                #"{"k":"-----BEGIN RSA PRIVATE KEY-----\nMIIEabc123\n-----END RSA PRIVATE KEY-----\n","sub":"x"}"#,
                #"{"k":"-----BEGIN RSA PRIVATE KEY-----private-key-001-----END RSA PRIVATE KEY-----\n","sub":"x"}"#
            ),
            (
                #"{"k":"-----BEGIN CERTIFICATE-----\nMIIEabc123\n-----END CERTIFICATE-----\n"}"#,
                #"{"k":"-----BEGIN CERTIFICATE-----\nMIIEabc123\n-----END CERTIFICATE-----\n"}"#
            ),
            // Words that begin as credentials do.
            (
                #"{"plan":"Basic Subscription","hint":"Bearer Authentication","o":"Subscription ends"}"#,
                #"{"plan":"Basic Subscription","hint":"Bearer Authentication","o":"Subscription ends"}"#
            ),
            (#"{"a":"Basic bWU6c2VjcmV0"}"#, #"{"a":"Basic authorization-001"}"#),
            (
                "ghost_writers_of_the_world skeleton_component_loader AIRPORT_TERMINAL_CODES_2026",
                "ghost_writers_of_the_world skeleton_component_loader AIRPORT_TERMINAL_CODES_2026"
            ),
            // Names in one word, and names of several secrets.
            (
                #"{"secret_key":"k3J9x8QzLm2P","secretKey":"a1J9x8QzLm2P","accesstoken":"b2J9x8QzLm2P","CSRFMIDDLEWARETOKEN":"c3J9x8QzLm2P"}"#,
                #"{"secret_key":"secret-key-001","secretKey":"secret-key-002","accesstoken":"token-001","CSRFMIDDLEWARETOKEN":"token-002"}"#
            ),
            (
                #"{"api_keys":["k3J9x8QzLm2P"],"credentials":"a1J9x8QzLm2P","tokens":["one"],"max_tokens":4096,"newPasswords":"b2J9x8QzLm2P"}"#,
                #"{"api_keys":["api-key-001"],"credentials":"credential-001","tokens":["one"],"max_tokens":4096,"newPasswords":"password-001"}"#
            ),
            // A user without a password may be a token.
            (
                #"{"repo":"https://k3J9x8QzLm2P@git.example/a","ssh":"ssh://git@git.example/a"}"#,
                #"{"repo":"https://user-001@git.example/a","ssh":"ssh://git@git.example/a"}"#
            ),
            (
                #"{"token":"1234567890123456789","id":1234567890123456789,"card_number":9876543210987654321}"#,
                #"{"token":"900000001","id":900000001,"card_number":900000002}"#
            ),
            // In a request these are secret.
            (#"{"auth":"OAuth2-PKCE","app_id":"client-23A"}"#, #"{"auth":"OAuth2-PKCE","app_id":"client-23A"}"#),
            // The words of a name are those between its letters, in any script.
            (#"{"épin":"ordinary","Āpin":"s3cretWord","pin":"s3cret"}"#, #"{"épin":"ordinary","Āpin":"s3cretWord","pin":"pin-001"}"#),
            ("token-001: no secret", "token-001: no secret"), ("42", "42"), ("\"pong\"", "\"pong\""),
        ])
    func kinds(body: String, recorded: String) throws { #expect(try self.body(body) == recorded) }

    @Test(
        "Forms, multipart bodies, XML, events and HTML are searched",
        arguments: [
            ("application/x-www-form-urlencoded", "a=1&password=corr%65ct&b=2", "a=1&password=password-001&b=2"),
            ("", "a=1&password=corr%65ct&b=2", "a=1&password=password-001&b=2"),
            (
                "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx y\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npassword-001\r\n--b--\r\n"
            ),
            ("text/xml", "<a><s:Password>x y</s:Password><b>c</b></a>", "<a><s:Password>password-001</s:Password><b>c</b></a>"),
            ("text/xml", "<a><pin>7</pin><b/><c></c></a>", "<a><pin>900000001</pin><b/><c></c></a>"),
            (
                "text/xml", "<a><password><![CDATA[x<y ]] & z]]></password><b><![CDATA[c]]></b></a>",
                "<a><password><![CDATA[password-001]]></password><b><![CDATA[c]]></b></a>"
            ),
            (
                "multipart/mixed; boundary=b", "--b\r\nContent-Type: application/json\r\n\r\n{\"password\":\"x y\"}",
                "--b\r\nContent-Type: application/json\r\n\r\n{\"password\":\"password-001\"}"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data;filename=a; name=password\r\n\r\nx y\r\n--b\r\nContent-Disposition: form-data;name=\"pin\"\r\n\r\n7 8",
                "--b\r\nContent-Disposition: form-data;filename=a; name=password\r\n\r\npassword-001\r\n--b\r\nContent-Disposition: form-data;name=\"pin\"\r\n\r\npin-001"
            ),
            ("text/xml", "<a><password>\n  x y\n </password></a>", "<a><password>\n  password-001\n </password></a>"),
            ("text/plain", "token=a1B2c3D4", "token=token-001"), ("text/plain", "token=a1B2c3D4&x=1", "token=token-001&x=1"),
            (
                "text/xml", "<a><password>\n <![CDATA[Hunter2!x]]>\n</password></a>",
                "<a><password>\n <![CDATA[password-001]]>\n</password></a>"
            ),
            ("text/plain", "token=a1B2c3D4\n", "token=token-001\n"),
            ("text/plain", "token=a1B2c3D4,user=7 a1B2c3D4.", "token=token-001,user=7 token-001."),
            ("application/json", #"{"password":"[Hunter2!x]","passCode":482913}"#, #"{"password":"password-001","passCode":900000001}"#),
            ("text/plain", "token=makeToken(id: 1)", "token=makeToken(id: 1)"),
            ("text/plain", "log: {\"password\": \"x y", "log: {\"password\": \"password-001"),
            ("text/plain", "log: {\"password\" : \"x y\", \"pin\" :7 ", "log: {\"password\" : \"password-001\", \"pin\" :900000001 "),
            ("text/event-stream", "data: {\"password\": \"x y\", \"n\": 1}\n\n", "data: {\"password\": \"password-001\", \"n\": 1}\n\n"),
            ("text/html", "<a href='/x?a=1&amp;password=abc'>", "<a href='/x?a=1&amp;password=password-001'>"),
        ])
    func bodies(type: String, body: String, recorded: String) throws {
        #expect(try self.body(body, type: type, isRequest: true) == recorded)
    }

    @Test(
        "JSON stays JSON if a number is hidden, whatever its notation",
        arguments: ["48.137154", "-5", "1e5", "0", "-0.0", "1234567890123456789", "123456789012345678901234567890", "2.5E-3"])
    func numbers(number: String) throws {
        let text = "{\"latitude\":\(number),\"b\":[\(number)]}"
        let recording = try recording(text, hiding: ["latitude"])
        let body = try #require(recording.exchanges[0].response?.body)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(object["latitude"] as? Int == 900_000_001, "\(String(decoding: body, as: UTF8.self))")
    }

    @Test("A binary body with what can only be a secret cannot be recorded")
    func binarySecret() throws {
        var exchange = RecordedExchange(method: "GET", url: "https://a.example/")
        let type = RecordedExchange.Field(name: "Content-Type", value: "application/x-protobuf")
        exchange.response = .init(
            status: 200, headers: [type], body: [0xFF, 0x00] + Array("ghp_16C7e42F292c6912E7710c838347Ae178B4a".utf8))
        exchange.order = (0, 1)
        let recording = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.problems.contains { $0.contains("has a key in a binary body") }, "\(recording.problems)")
    }

    @Test("A secret is replaced wherever it stands, in any escape", arguments: ["", "ä", "\"", "&", "/", " "])
    func escapes(beginning: String) throws {
        let secret = beginning + "pä/\"s w0rd&1"
        let json = try String(decoding: JSONEncoder().encode(secret), as: UTF8.self)
        let twice = secret.escapedAsValue.escapedAsValue
        let text = """
            {"password":\(json),"a":"\(twice)","b":\(json.replacingOccurrences(of: "/", with: "\\/")),"c":"\(secret.escapedAsValue)",
            "d":"\(secret.utf16.map { "\\u\(String(UInt32($0) + 0x10000, radix: 16).dropFirst())" }.joined())",
            "e":"<p>\(beginning.escapedAsHTML)pä&#x2F;&quot;s w0rd&amp;1</p>"}
            """
        let body = try body(text)
        #expect(body.components(separatedBy: "password-001").count == 7, "\(body)")
    }

    @Test(
        "A secret of a header, a cookie or a query is replaced there, and where it stands without its quotes and escapes",
        arguments: [
            ("AUTHORIZATION", "Bearer correct-horse", "", "correct-horse"), ("COOKIE", "a=correct-horse; b=c", "", "correct-horse"),
            ("Cookie", "b=c; a=\"correct-horse\"", "", "correct-horse"), ("Cookie", "a=correct%20horse", "", "correct horse"),
            ("X-Authorization", "ApiKey correct-horse", "", "correct-horse"),
            ("X-Passphrase", "correct horse battery", "", "correct horse battery"),
            ("X-State", "id=\"1\",token=\"correct-horse-1\"", "", "correct-horse-1"),
            ("Ocp-Apim-Subscription-Key", "correct-horse", "", "correct-horse"), ("X-Auth", "correct-horse", "", "correct-horse"),
            ("Accept", "*/*", "?jwt=correct-horse&appid=1", "correct-horse"),
            ("Accept", "*/*", "?token_v2=correct-horse", "correct-horse"),
            ("Accept", "*/*", "?a=b&password=correct+horse", "correct horse"), ("Accept", "*/*", "#token=correct-horse", "correct-horse"),
            ("Accept", "*/*", "#/reset?token=correct-horse", "correct-horse"),
        ])
    func places(header: String, value: String, query: String, secret: String) throws {
        var exchange = RecordedExchange(method: "GET", url: "https://a.example/\(query)")
        exchange.headers = [.init(name: header, value: value)]
        let type = RecordedExchange.Field(name: "Content-Type", value: "text/plain")
        exchange.response = .init(status: 200, headers: [type], body: Array("It was \(secret).".utf8))
        exchange.order = (0, 1)
        let new = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har").exchanges[0]
        let shown = "\(new.url) \(new.headers) \(String(decoding: new.response?.body ?? [], as: UTF8.self))"
        #expect(!shown.contains("horse") && shown.contains("-001"), "\(shown)")
    }

    @Test("Each of several cookies in one field is a secret of its own")
    func cookies() throws {
        var exchange = RecordedExchange(method: "GET", url: "https://a.example/")
        exchange.response = .init(
            status: 200, headers: [.init(name: "Set-Cookie", value: "a=one-x1, b=two-y2; Path=/, c=one-x1")], body: [])
        exchange.order = (0, 1)
        let recording = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.exchanges[0].response?.headers[0].value == "a=cookie-001, b=cookie-002; Path=/, c=cookie-001")
    }

    @Test("A short value of a cookie is replaced in cookies alone")
    func shortCookie() throws {
        var exchanges = ["", "", "?state=open"].map { RecordedExchange(method: "GET", url: "https://a.example/\($0)") }
        for index in exchanges.indices {
            exchanges[index].headers = index == 0 ? [] : [.init(name: "Cookie", value: "a=open")]
            exchanges[index].response = .init(status: 200, headers: [.init(name: "Set-Cookie", value: "a=open")], body: [])
            exchanges[index].order = (2 * index, 2 * index + 1)
        }
        let recorded = try NewRecording(exchanges, RecordingOptions(), test: nil, name: "a.har").exchanges
        #expect(recorded.map { $0.headers.first?.value } == [nil, "a=cookie-001", "a=cookie-001"])
        #expect(recorded[2].url == "https://a.example/?state=open")
    }

    @Test("A short value of a cookie that is also a secret elsewhere is replaced in later requests")
    func sharedCookie() throws {
        var exchanges = ["", "?code=q7x"].map { RecordedExchange(method: "GET", url: "https://a.example/\($0)") }
        for index in exchanges.indices {
            let headers = ["Set-Cookie": "a=q7x", "Content-Type": "application/json"].map { RecordedExchange.Field(name: $0, value: $1) }
            exchanges[index].response = .init(status: 200, headers: index == 0 ? headers : [], body: Array(#"{"otp":"q7x"}"#.utf8))
            exchanges[index].order = (2 * index, 2 * index + 1)
        }
        let recorded = try NewRecording(exchanges, RecordingOptions(), test: nil, name: "a.har").exchanges
        #expect(recorded[1].url == "https://a.example/?code=cookie-001")
    }

    @Test("A JWT keeps its head and its claims, and its times move")
    func jwt() throws {
        func jwt(_ claims: String, _ signature: String) -> String {
            [#"{"alg":"HS256"}"#, claims].map { Data($0.utf8).base64URL }.joined(separator: ".") + "." + signature
        }
        let recording = try recording("{\"t\":\"\(jwt(#"{"sub":"me","exp":1900000000}"#, "c2lnbmF0dXJl"))\"}")
        let text = String(decoding: recording.exchanges[0].response?.body ?? [], as: UTF8.self)
        #expect(text == "{\"t\":\"\(jwt(#"{"sub":"me","exp":1900000000}"#, "token-001"))\"}")
        let response = try #require(recording.exchanges[0].response)
        let replayed = ReplayedResponse(response, Placeholders(["token-001": .response]), Bindings(), movedBy: 60)
        #expect(String(decoding: replayed.body, as: UTF8.self) == "{\"t\":\"\(jwt(#"{"sub":"me","exp":1900000060}"#, "token-001"))\"}")
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

    @Test("Dates move by the time that has passed, and what says when a token ends, too")
    func dates() throws {
        let body = Array(#"{"access_token":"token-001","expires_at":"2026-01-01T00:00:00Z","at":"2026-01-01T00:00:00Z"}"#.utf8)
        let response = RecordedExchange.Response(
            status: 200,
            headers: [
                .init(name: "Content-Type", value: "application/json"), .init(name: "Date", value: "Thu, 01 Jan 2026 00:00:00 GMT"),
                .init(name: "Set-Cookie", value: "a=b; Expires=Thu, 01-Jan-2026 00:00:00 GMT;; Path=/"),
                .init(name: "Retry-After", value: "9"),
            ], body: body)
        let replayed = ReplayedResponse(response, Placeholders(["token-001": .response]), Bindings(), movedBy: 86_400)
        #expect(
            replayed.headers.map(\.value).dropFirst() == [
                "Fri, 02 Jan 2026 00:00:00 GMT", "a=b; Expires=Fri, 02 Jan 2026 00:00:00 GMT;; Path=/", "0",
            ])
        #expect(
            String(decoding: replayed.body, as: UTF8.self)
                == #"{"access_token":"token-001","expires_at":"2026-01-02T00:00:00Z","at":"2026-01-01T00:00:00Z"}"#)
    }

    @Test("Names of any number of words are hidden and kept")
    func longNames() throws {
        let (body, name) = (#"{"my_internal_customer_tax_token":"abc123def"}"#, "my_internal_customer_tax_token")
        for (hidden, kept, value) in [([name], [], "my-internal-customer-tax-token-001"), ([], [name], "abc123def")] {
            let exchange = try recording(body, hiding: hidden, keeping: kept).exchanges[0]
            #expect(String(decoding: exchange.response?.body ?? [], as: UTF8.self) == #"{"\#(name)":"\#(value)"}"#)
        }
    }

    @Test("Names are hidden and kept as the test says")
    func options() throws {
        let body = #"{"ssn":"7-x","token":"abc123def","n":1}"#
        let exchange = try recording(body, hiding: ["ssn"], keeping: ["token"]).exchanges[0]
        #expect(String(decoding: exchange.response?.body ?? [], as: UTF8.self) == #"{"ssn":"ssn-001","token":"abc123def","n":1}"#)
    }

    @Test("A secret that cannot be replaced keeps the file from being written")
    func unwritable() throws {
        var exchange = RecordedExchange(method: "POST", url: "https://a.example/?token=abc123def")
        exchange.body = [0xFF] + Array("abc123def".utf8)
        let binary = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har").problems
        #expect(binary == ["POST https://a.example/ has a token in a binary body, where it cannot be replaced"])
        exchange.body = [0x1F, 0x8B]
        exchange.headers = [.init(name: "Content-Encoding", value: "gzip")]
        #expect(
            try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har").problems.first?.contains("the Content-Encoding gzip")
                == true)
    }

    @Test("The attachment of a failed test leaves out a binary body that has a secret")
    func attachment() async throws {
        let body = Data([0xFF] + "abc123def".utf8)
        let text = try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.post, "/a", respond: .data(body))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let sent = HTTPBody.data(body, contentType: "application/octet-stream")
            try await provider.request(Endpoint<Void>(.post, "/a", query: ["token": "abc123def"], body: sent)).value
            return String(decoding: try #require(MockURLProtocol.attachment), as: UTF8.self)
        }
        #expect(text.contains("/a?token=") && !text.contains("abc123def"), "\(text)")
        #expect(!text.contains(body.base64EncodedString().dropFirst(4)), "\(text)")
    }

    @Test("400 requests to one URL replay in a second", .longComputing)
    func many() throws {
        let exchanges = (0..<400).map { number -> RecordedExchange in
            var exchange = RecordedExchange(method: "POST", url: "https://a.example/graphql")
            exchange.body = Array(#"{"query":"query($id:ID!){node(id:$id){id}}","variables":{"id":"MDQ6VXNlc\#(number)"}}"#.utf8)
            exchange.response = .init(status: 200, headers: [], body: Array("[\(number)]".utf8))
            exchange.order = (2 * number, 2 * number + 1)
            return exchange
        }
        let recording = try NewRecording(exchanges, RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.problems == [])
        var replay = Replay(try RecordedFile(recording.content, name: "a.har"))
        for index in exchanges.indices.reversed() { #expect((try? replay.entry(for: exchanges[index]).get()) == index) }
    }
}

extension String {
    fileprivate var escapedAsHTML: String {
        ["&": "&amp;", "\"": "&quot;", "/": "&#x2F;"][self] ?? self
    }
}
