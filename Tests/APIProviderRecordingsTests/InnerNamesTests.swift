import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

/// A request in which an object, a form or an element has the name of a secret.
struct NamedObject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var type = "application/json"
    let body: String
    /// What a replay may send otherwise.
    var secrets: [String] = []
    /// What another user, another amount or another scope would send.
    let others: [(recorded: String, sent: String)]

    func request(_ change: (recorded: String, sent: String)? = nil, answer: String = "{}", at time: Int = 0) -> RecordedExchange {
        let changed = change.map { body.replacingOccurrences(of: $0.recorded, with: $0.sent) } ?? body
        return exchange("POST", headers: ["Content-Type": type], body: changed, answer: answer, at: time)
    }
}

@Suite("A name of a secret says nothing of what is inside", tenMinutes, .longComputing)
struct InnerNamesTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let uuid = "6f9619ff-8b86-4011-b42d-00cf4fc964ff", otherUUID = "7f9619ff-8b86-4011-b42d-00cf4fc964ff"
    private static let payment = "pm_1NkXh2LkdIwHu7ix", otherPayment = "pm_1NkXh2LkdIwHu7iy"

    private static let objects = [
        NamedObject(
            testDescription: "Rails: session", body: #"{"session":{"email":"ann@a.example","password":"s3cretOfAnn99"}}"#,
            secrets: ["s3cretOfAnn99"], others: [("ann@a.example", "bob@a.example")]),
        NamedObject(
            testDescription: "Rails: session in a form", type: form, body: "session[email]=ann%40a.example&session[password]=s3cretOfAnn99",
            secrets: ["s3cretOfAnn99"], others: [("ann%40a.example", "bob%40a.example")]),
        NamedObject(
            testDescription: "Rails: session in an escaped form", type: form,
            body: "session%5Bemail%5D=ann%40a.example&session%5Bpassword%5D=s3cretOfAnn99", secrets: ["s3cretOfAnn99"],
            others: [("ann%40a.example", "bob%40a.example")]),
        NamedObject(
            testDescription: "session in parts", type: "multipart/form-data; boundary=b",
            body: "--b\r\nContent-Disposition: form-data; name=\"session[email]\"\r\n\r\nann@a.example\r\n--b\r\n"
                + "Content-Disposition: form-data; name=\"session[password]\"\r\n\r\ns3cretOfAnn99\r\n--b--\r\n",
            secrets: ["s3cretOfAnn99"], others: [("ann@a.example", "bob@a.example")]),
        NamedObject(
            testDescription: "A session of a user with an id", body: #"{"session":{"user_id":"\#(uuid)","device":"Ann's phone"}}"#,
            others: [(uuid, otherUUID), ("Ann's phone", "Bob's phone")]),
        NamedObject(
            testDescription: "auth", body: #"{"auth":{"user":"ann","api_key":"k3yOfTheProgram1","tenant":{"id":"acme-1"}}}"#,
            secrets: ["k3yOfTheProgram1"], others: [("ann", "bob"), ("acme-1", "acme-2")]),
        NamedObject(
            testDescription: "credentials", body: #"{"credentials":[{"username":"ann","password":"s3cretOfAnn99"}]}"#,
            secrets: ["s3cretOfAnn99"], others: [("ann", "bob")]),
        NamedObject(
            testDescription: "credentials, as JSON in a form", type: form,
            body: "credentials=%7B%22username%22%3A%22ann%22%2C%22password%22%3A%22s3cretOfAnn99%22%7D", secrets: ["s3cretOfAnn99"],
            others: [("ann", "bob")]),
        NamedObject(
            testDescription: "A payment's authorization",
            body: #"{"authorization":{"amount":"10.00","currency":"eur","payment_method":"\#(payment)","at":"2026-01-01T00:00:00Z"}}"#,
            others: [
                ("10.00", "99.00"), ("eur", "usd"), (payment, otherPayment), ("2026-01-01", "2026-02-01"),
            ]),
        NamedObject(
            testDescription: "A token's scopes", body: #"{"token":{"scopes":["read"],"note":"CI","value":"2026"}}"#,
            others: [("read", "write"), ("CI", "admin"), ("2026", "2027")]),
        NamedObject(
            testDescription: "A token's element", type: "text/xml",
            body: "<create><apiKey scope=\"read\"><owner>ann</owner><secret>s3cretOfAnn99</secret></apiKey></create>",
            secrets: ["s3cretOfAnn99"], others: [("ann", "bob"), ("read", "write")]),
        NamedObject(
            testDescription: "WS-Security", type: "text/xml",
            body: "<s:Envelope xmlns:s=\"u\" xmlns:w=\"v\"><s:Header><w:UsernameToken><w:Username>ann</w:Username>"
                + "<w:Password>s3cretOfAnn99</w:Password></w:UsernameToken></s:Header></s:Envelope>",
            secrets: ["s3cretOfAnn99"], others: [("ann", "bob")]),
        NamedObject(
            testDescription: "A new password", body: #"{"user":"ann","password":{"current":"old-Word-77","new":{"value":"newWord-88"}}}"#,
            secrets: ["old-Word-77", "newWord-88"], others: [("ann", "bob")]),
        NamedObject(
            testDescription: "A new password in a form", type: form,
            body: "user=ann&password[old]=old-Word-77&password[confirmation]=newWord-88",
            secrets: ["old-Word-77", "newWord-88"], others: [("ann", "bob")]),
        NamedObject(
            testDescription: "A new password in parts", type: "multipart/form-data; boundary=b",
            body: "--b\r\nContent-Disposition: form-data; name=\"password[new]\"\r\n\r\nnewWord-88\r\n--b\r\n"
                + "Content-Disposition: form-data; name=\"password[hint]\"\r\n\r\nmy dog\r\n--b--\r\n",
            secrets: ["newWord-88"], others: [("my dog", "my cat")]),
        NamedObject(
            testDescription: "A new password's element", type: "text/xml",
            body: "<p:change xmlns:p=\"u\"><p:Password hint=\"my dog\"><p:New>newWord-88</p:New></p:Password></p:change>",
            secrets: ["newWord-88"], others: [("my dog", "my cat")]),
        NamedObject(
            testDescription: "A password's policy",
            body: #"{"password":{"policy":{"value":"strong","text":"Ten letters"},"hint":"my dog"}}"#,
            others: [("strong", "weak"), ("Ten letters", "Two letters"), ("my dog", "my cat")]),
        NamedObject(
            testDescription: "Keycloak: a user's credentials",
            body: #"{"username":"ann","credentials":[{"type":"password","value":"s3cretOfAnn99","temporary":"no"}]}"#,
            secrets: ["s3cretOfAnn99"], others: [("ann", "bob"), ("no", "yes")]),
        NamedObject(
            testDescription: "A pin's number", body: #"{"pin":{"value":4711,"attempts":3}}"#, secrets: ["4711"], others: [(":3", ":4")]),
        NamedObject(
            testDescription: "Parts of a name in parts", type: "multipart/form-data; boundary=b",
            body: ["session[id]": "user-42", "app[id]": "shop-42", "authorization[code]": "FR-42", "user[api_key]": "k3yOfTheProgram1"]
                .sorted { $0.key < $1.key }.map {
                    "--b\r\nContent-Disposition: form-data; name=\"\($0.key)\"\r\n\r\n\($0.value)\r\n"
                }.joined() + "--b--\r\n",
            secrets: ["k3yOfTheProgram1"], others: [("user-42", "user-43"), ("shop-42", "shop-43"), ("FR-42", "FR-43")]),
        NamedObject(
            testDescription: "Parts of a name in members",
            body: #"{"session.id":"user-42","session:id":"cart-42","app.id":"shop-42","spring.db.password":"s3cretOfAnn99"}"#,
            secrets: ["s3cretOfAnn99"], others: [("user-42", "user-43"), ("cart-42", "cart-43"), ("shop-42", "shop-43")]),
        NamedObject(
            testDescription: "Parts of a name that are secrets",
            body:
                #"{"openai.api.key":"k3yOfTheProgram1","client/secret":"s3cretOfAnn99","tokens[0]":"t0kenOfAnn-77","password.new":"new-Word-7"}"#,
            secrets: ["k3yOfTheProgram1", "s3cretOfAnn99", "t0kenOfAnn-77", "new-Word-7"], others: []),
        NamedObject(
            testDescription: "A prefix of XML", type: "text/xml",
            body: "<a xmlns:session=\"u\"><session:id>user-42</session:id><session:token>t0kenOfAnn-77</session:token></a>",
            secrets: ["t0kenOfAnn-77"], others: [("user-42", "user-43")]),
        NamedObject(
            testDescription: "JSON Patch",
            body: #"[{"op":"replace","path":"/session/id","value":"user-42"},{"op":"add","path":"/tokens/-","value":"t0kenOfAnn-77"}]"#,
            secrets: ["t0kenOfAnn-77"], others: [("user-42", "user-43")]),
        NamedObject(
            testDescription: "A kind beside a value",
            body: #"[{"type":"authorization","value":"10.00"},{"type":"token","value":"gold-7"},{"type":"otp","value":"482913"}]"#,
            secrets: ["482913"], others: [("10.00", "99.00"), ("gold-7", "gold-8")]),
        NamedObject(
            testDescription: "Numbers as names",
            body: #"{"session":{"1":"ann@a.example"},"credentials":{"2024":"ann"},"tokens":{"7":{"8":"gold-7"}}}"#,
            others: [("ann@a.example", "bob@a.example"), (":\"ann\"", ":\"bob\""), ("gold-7", "gold-8")]),
        NamedObject(
            testDescription: "Numbered passwords", body: #"{"password":{"1":"s3cretOfAnn99"},"passwords":{"2":{"new":"newWord-88"}}}"#,
            secrets: ["s3cretOfAnn99", "newWord-88"], others: []),
        NamedObject(
            testDescription: "Numbers of elements", type: form, body: "tokens[0]=t0kenOfAnn-77&tokens[1]=t0kenOfAnn-78&user[0]=ann",
            secrets: ["t0kenOfAnn-77", "t0kenOfAnn-78"], others: []),
        NamedObject(
            testDescription: "A form in a text", body: #"{"auth":"email=ann@a.example&amount=10&password=s3cretOfAnn99"}"#,
            secrets: ["s3cretOfAnn99"], others: [("ann@a.example", "bob@a.example"), ("amount=10", "amount=99")]),
        NamedObject(
            testDescription: "Markup in a text",
            body: #"{"credentials":"<u><email>ann@a.example</email><password>s3cretOfAnn99</password></u>"}"#,
            secrets: ["s3cretOfAnn99"], others: [("ann@a.example", "bob@a.example")]),
        NamedObject(
            testDescription: "Passwords that look like forms and markup",
            body: #"{"password":"x=1&y=2&z=3","pw":"<x>y</x>","token":"ab&c=dEf1/="}"#,
            secrets: ["x=1&y=2&z=3", "<x>y</x>", "ab&c=dEf1/="], others: []),
        NamedObject(
            testDescription: "A card in a form", type: form,
            body: "card[number]=4242424242424242&card[cvc]=987&card[exp_month]=12&name=ann",
            secrets: ["4242424242424242", "987"], others: [("exp_month]=12", "exp_month]=11"), ("ann", "bob")]),
        NamedObject(
            testDescription: "A card in objects",
            body:
                #"{"card":{"number":"4242424242424242","brand":"visa"},"cards":[{"number":5454545454545454}],"phone":{"number":"030123456"}}"#,
            secrets: ["4242424242424242", "5454545454545454"], others: [("visa", "amex"), ("030123456", "030123457")]),
        NamedObject(
            testDescription: "Numbers of cards on a board, and pins of a board",
            body: #"{"card":{"number":17,"list":{"card.number":"18"}},"pins":[21,2,37]}"#,
            others: [("17", "19"), ("18", "19"), ("21", "22"), ("37", "38")]),
        NamedObject(
            testDescription: "A URL with a token at its end", body: #"{"redirect":"https://x.example/cb?access_token=abcdef123456"}"#,
            secrets: ["abcdef123456"],
            others: ["&user=bob&amount=9", "#bob", " bob"].map { ("abcdef123456", "abcdef123456\($0)") }),
        NamedObject(
            testDescription: "A text with a password at its end", type: "text/plain",
            body: "2024-11-02 10:00:00 login ann, password: hunter2222abc",
            secrets: ["hunter2222abc"],
            others: [("hunter2222abc", "hunter2222abc, role: admin"), ("hunter2222abc", "hunter2222abc;role=admin"), ("ann", "bob")]),
        NamedObject(
            testDescription: "A variable's default in GraphQL",
            body:
                #"{"query":"mutation($password: String! = \"hunter4444\", $token: [T!]! = \"ab-1\", $name: String = \"ann\") { a(p: $password) }"}"#,
            secrets: ["hunter4444", "ab-1"], others: [("ann", "bob"), ("a(p", "b(p")]),
        NamedObject(
            testDescription: "Codes in a list", body: #"{"recovery_codes":["abc-123-def","xyz-456-uvw"],"user":"ann"}"#,
            secrets: ["abc-123-def", "xyz-456-uvw"], others: [("ann", "bob")]),
    ]

    private func replay(_ recording: NewRecording) throws -> Replay {
        #expect(recording.problems == [], "\(recording.problems)")
        return Replay(try HARFile(recording.file.data, name: "session.har"), RecordingOptions())
    }

    @Test("With another secret a request is answered, and no secret is in the file", arguments: objects)
    func anotherSecret(object: NamedObject) throws {
        let recording = NewRecording([object.request()])
        let replay = try replay(recording)
        #expect(throws: Never.self) { try replay.choice(for: object.request()).get() }
        for secret in object.secrets {
            #expect(!recording.text.contains(secret), "\(recording.text)")
            let other = secret.utf8.allSatisfy(\.isDigit) ? "8523\(secret.dropFirst(4))" : "An0ther-Word"
            #expect(throws: Never.self, "\(secret)") { try replay.choice(for: object.request((secret, other))).get() }
        }
    }

    @Test("With another user, amount, scope or id a request is not answered, also where the response repeats it", arguments: objects)
    func anotherUser(object: NamedObject) throws {
        let values = object.others.map { "\"\($0.recorded)\"" }.joined(separator: ",")
        let answers = ["{}", object.type == "application/json" ? object.body : "{}", "{\"session\":{\"ids\":[\(values)]}}", "[\(values)]"]
        for answer in answers {
            let recording = NewRecording([object.request(answer: answer)])
            let replay = try replay(recording)
            for (recorded, sent) in object.others {
                #expect(throws: Replay.Failure.self, "\(answer): \(sent)") {
                    try replay.choice(for: object.request((recorded, sent))).get()
                }
                #expect(recording.body().contains(recorded) || object.secrets.contains(recorded), "\(recording.body())")
            }
            #expect(throws: Never.self, "\(answer)") { try replay.choice(for: object.request()).get() }
        }
    }

    @Test("A marked segment at the end of a URL in a text takes no query", arguments: ["?user=bob", "#bob", " bob"])
    func markedSegment(end: String) throws {
        func request(_ segment: String) -> RecordedExchange {
            var request = sending(#"{"hook":"https://x.example/hooks/\#(segment)"}"#)
            request.markedSecrets = [segment]
            return request
        }
        let replay = try replay(NewRecording([request("T0/abcDEF123456")]))
        for segment in ["T0/abcDEF123456", "dummy"] { #expect(throws: Never.self) { try replay.choice(for: request(segment)).get() } }
        #expect(throws: Replay.Failure.self) { try replay.choice(for: request("dummy\(end)")).get() }
    }

    // MARK: - Responses

    @Test(
        "In a response, dates, scopes, URLs, names, numbers and what is public stay",
        arguments: [
            #"{"apiKey":{"id":17,"name":"CI key","createdAt":"2026-01-01T00:00:00.123Z","expiresAt":"2027-01-01","scopes":["read:user"]}}"#,
            #"{"secrets":[{"name":"GH_TOKEN","created_at":"2026-01-01T00:00:00Z","visibility":"private","selected_repositories_url":"https://api.github.com/orgs/o/actions/secrets/GH_TOKEN/repositories"}]}"#,
            #"{"tokens":[{"id":42,"name":"deploy","revoked":false,"active":true,"scopes":["api","read_repository"],"last_used_at":"2026-01-01T00:00:00.000+01:00","expires_at":"2026-12-31","user_id":7}]}"#,
            #"{"session":{"handle":"blue-shirt-2","title":"Blue shirt","tags":["a","b"],"email":"ann.smith92@mail.example","path":"/orders/17a9c2b7d8e1"}}"#,
            #"{"tokens":[{"symbol":"USDC","name":"USD Coin","decimals":6,"balance":"1200.50","logo":"https://a.example/6f9619ff8b86.png"}]}"#,
            #"{"password":{"policy":{"minimum":12,"pattern":"letters and digits","updated":"20260101T000000Z"},"expires":"2026-01-01T00:00:00"}}"#,
            #"{"auth":{"provider":"github","mfa":true,"methods":["totp","sms"],"last":"2026-01-01T00:00:00.000000+0000"}}"#,
            #"{"authorization":{"amount":"10.00","status":"approved","network":"visa","at":1767225600}}"#,
            #"{"credentials":{"username":"ann","role":"ROLE_ADMIN","region":"eu-west-1","zone":"Europe/Berlin"}}"#,
            #"{"session":{"user":{"name":"Ann Smith","locale":"de-DE","model":"gpt-4o-mini-2024-07-18","phone":"+4917612345678"}}}"#,
            #"{"client_secret":{"expires_at":1767225600,"kind":"ephemeral"},"csrf":{"header":"X-CSRF-Token"}}"#,
            #"{"password.new":"Neu","password.text":"Passwort","session":{"type":"application/vnd.github.v3+json","grants":"orders.v2:read,write"}}"#,
            #"{"errors":{"password":["too_short"],"pin":["INVALID_CODE"],"token":["not_found"]},"password":"set","otp":"sms"}"#,
            #"{"labels":{"password":"Kennwort","passphrase":"パスフレーズ"},"items":[{"key":"login.password","value":"Passwort"}]}"#,
            #"{"products":[{"name":"1Password","value":"35.88"}],"pins":[1,2,3],"card":{"number":17}}"#,
            #"{"token":{"ttl":"P3Y6M4DT12H30M5S","rest":"PT36H15M0.5S"}}"#,
            #"{"session":{"ip":"2001:db8:85a3::8a2e:370:7334","net":"2001:db8:85a3::/48","type":"application/json;charset=utf-8"}}"#,
            #"{"session":{"1":"ann@a.example","type":"video/mp4;codecs=mp4a.40.2"}}"#,
            "<tokens><token><name>deploy</name><created>2026-01-01T00:00:00Z</created></token></tokens>",
        ])
    func responses(body: String) {
        let type = body.hasPrefix("<") ? "text/xml" : "application/json"
        let recording = NewRecording([exchange(answer: body, type: type), exchange(answer: body, type: type, at: 1)])
        #expect(recording.problems == [] && recording.answer() == body && recording.answer(1) == body, "\(recording.answer())")
    }

    @Test(
        "In a response, text inside that looks random is replaced, and nothing else",
        arguments: [
            (#"{"tokens":{"access":"abc123DEF456","type":"bearer","n":1}}"#, #"{"tokens":{"access":"token-001","type":"bearer","n":1}}"#),
            (#"{"session":{"key":"abc123DEF456","user":"ann"}}"#, #"{"session":{"key":"session-001","user":"ann"}}"#),
            (#"{"auth":{"device":{"id":"abc123DEF456"}}}"#, #"{"auth":{"device":{"id":"auth-001"}}}"#),
            (#"{"data":[{"credentials":{"a":["abc123DEF456","b"]}}]}"#, #"{"data":[{"credentials":{"a":["credential-001","b"]}}]}"#),
            (
                #"{"client_secret":{"value":"ek_abc123DEF456","expires_at":1}}"#,
                #"{"client_secret":{"value":"client-secret-001","expires_at":1}}"#
            ),
        ])
    func randomText(body: String, expected: String) throws {
        let recording = NewRecording([exchange(answer: body)])
        let label = { (text: String) in text.replacingOccurrences(of: #"[a-z-]+-001"#, with: "P", options: .regularExpression) }
        #expect(recording.problems == [] && label(recording.answer()) == label(expected), "\(recording.answer())")
        #expect(!recording.text.contains("abc123DEF456"))
    }

    @Test("keeping: leaves it, by its own name and by the object's", arguments: ["address", "tokens"])
    func kept(name: String) {
        let body = #"{"tokens":[{"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}]}"#
        #expect(NewRecording([exchange(answer: body)], RecordingOptions(keeping: [name])).answer() == body)
        #expect(!NewRecording([exchange(answer: body)]).text.contains("0xA0b8"))
    }

    @Test("What a response has carried is the app's to send back, and another text is none")
    func carried() throws {
        let login = sending(#"{"user":"ann"}"#, to: "https://a.example/login", answer: #"{"session":{"user_id":"\#(Self.uuid)"}}"#)
        func request(_ id: String) -> RecordedExchange { sending(#"{"session":{"user_id":"\#(id)"}}"#, at: 1) }
        let recording = NewRecording([login, request(Self.uuid)])
        var replay = try replay(recording)
        #expect(!recording.text.contains(Self.uuid))
        _ = try replay.entry(for: login).get()
        let placeholder = try #require(recording.replacer.secrets.first?.placeholder)
        #expect(throws: Never.self) { try replay.choice(for: request(placeholder)).get() }
        for other in [Self.uuid, Self.otherUUID] { #expect(throws: Replay.Failure.self) { try replay.choice(for: request(other)).get() } }
    }

    @Test("What a request has sent in the open, alone or in another text, stays when a response repeats it, and is listed")
    func repeated() throws {
        let answer = #"{"session":{"user_id":"\#(Self.uuid)"}}"#
        let requests = [
            sending(#"{"session":{"user_id":"\#(Self.uuid)"}}"#, answer: answer),
            exchange("GET", "https://a.example/?filter=id:\(Self.uuid)", answer: answer),
            exchange("GET", "https://a.example/users/u-\(Self.uuid)", answer: answer),
        ]
        for request in requests {
            let recording = NewRecording([request])
            let replay = try replay(recording)
            #expect(recording.answer() == answer)
            #expect(throws: Never.self) { try replay.choice(for: request).get() }
            #expect(recording.warnings.contains { $0.hasPrefix("Kept as they came: ") && $0.contains("user_id") }, "\(recording.warnings)")
        }
    }
}
