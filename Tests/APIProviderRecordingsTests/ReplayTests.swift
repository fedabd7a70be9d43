import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("What answers a request", tenMinutes)
struct ReplayTests {
    private let test = RecordedTest()

    // MARK: - What is stored and compared

    @Test("Of a request, only what is compared is stored")
    func stored() {
        let headers: HTTPHeaders = [
            "Accept": "a/b", "Range": "bytes=0-1", "If-None-Match": "\"v1\"", "X-Amz-Target": "D.GetItem", "SOAPAction": "x",
            "X-HTTP-Method-Override": "PATCH", "X-Tenant": "acme", "X-Language": "de", "X-Api-Key": "abc123DEF",
            "X-Secret-Note-Of-Mine": "abc",
            "User-Agent": "Mac", "Accept-Encoding": "br", "Origin": "https://o.example", "X-Request-Id": "abc123DEF456",
            "Idempotency-Key": "1",
        ]
        let recorded = NewRecording(
            [exchange(headers: headers, responseHeaders: ["Vary": "X-Language, User-Agent, *"])], RecordingOptions(comparing: ["x-tenant"])
        ).replacer.exchanges[0].headers
        #expect(
            Set(recorded.map(\.name)) == [
                "Accept", "Range", "If-None-Match", "X-Amz-Target", "SOAPAction", "X-HTTP-Method-Override", "X-Tenant", "X-Language",
                "X-Api-Key",
            ])
        #expect(recorded["X-Api-Key"] == "api-key-001")
    }

    @Test(
        "Each part of a request tells it from others, in any order",
        arguments: [
            [["method": "GET"], ["method": "DELETE"]], [["path": "/a"], ["path": "/A"]], [["path": "/a?x=1"], ["path": "/a?x=2"]],
            [["path": "/a?x=1"], ["path": "/a"]], [["Accept": "a/b"], ["Accept": "c/d"]], [["Range": "bytes=0-1"], [:]],
            [["If-None-Match": "\"v1\""], ["If-None-Match": "\"v2\""]], [["X-Amz-Target": "D.GetItem"], ["X-Amz-Target": "D.DeleteItem"]],
            [["X-HTTP-Method-Override": "PATCH"], ["X-HTTP-Method-Override": "DELETE"]], [["body": "{\"a\":1}"], ["body": "{\"a\":2}"]],
            [["body": "{\"a\":0.5}"], ["body": "{\"a\":0.7}"]],
            [["body": "{\"id\":1234567890123456789}"], ["body": "{\"id\":1234567890123456788}"]],
            [["body": "{\"a\":\"1\"}"], ["body": "{\"a\":1}"]], [["body": "{\"a\":\"\u{E9}\"}"], ["body": "{\"a\":\"e\u{301}\"}"]],
            [["body": "[1,2]"], ["body": "[2,1]"]], [["path": "/a?t=1&t=2"], ["path": "/a?t=2&t=1"]],
            [["body": "{}", "type": "application/json"], ["body": "{}", "type": "application/merge-patch+json"]],
            [["X-Language": "de"], ["X-Language": "en"]], [["X-Tenant": "a"], ["X-Tenant": "b"]],
            [["Authorization": "Bearer abc123DEF456"], [:]], [["Cookie": "lang=de"], ["Cookie": "lang=en"]],
            [
                ["body": "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--", "type": "multipart/form-data; boundary=b"],
                ["body": "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n2\r\n--b--", "type": "multipart/form-data; boundary=b"],
            ],
            [["body": "<a><b>1</b></a>", "type": "text/xml"], ["body": "<a><b>2</b></a>", "type": "text/xml"]],
        ])
    func parts(requests: [[String: String]]) throws {
        let exchanges = requests.enumerated().map { index, request in
            var headers = HTTPHeaders(request.filter { !["method", "path", "body", "type"].contains($0.key) })
            if request["body"] != nil { headers["Content-Type"] = request["type"] ?? "application/json" }
            return exchange(
                request["method"] ?? "POST", "https://a.example\(request["path"] ?? "/")", headers: headers, body: request["body"] ?? "",
                answer: "\(index)", responseHeaders: ["Vary": "X-Language"], at: index)
        }
        let options = RecordingOptions(keeping: ["lang"], comparing: ["X-Tenant"])
        let recording = NewRecording(exchanges, options)
        #expect(recording.problems == [])
        var replay = recording.replay
        for index in [1, 0] { #expect(try replay.entry(for: exchanges[index]).get() == index) }
        var one = NewRecording([exchanges[0]], options).replay
        #expect(throws: Replay.Failure.self) { try one.entry(for: exchanges[1]).get() }
    }

    @Test(
        "What means the same is the same",
        arguments: [
            ("{\"a\":1,\"b\":[1.0]}", "{ \"b\" : [1e0], \"a\" : 1 }", "application/json"),
            ("a=1&b=2", "b=2&a=1", "application/x-www-form-urlencoded"),
            ("a=%7E+x", "a=~%20x", "application/x-www-form-urlencoded"), ("{\"a\":\"\\u00e9\"}", "{\"a\":\"\u{E9}\"}", "application/json"),
            ("<a>  <b x='1' y='2'/></a>", "<a><b y=\"2\" x=\"1\"></b></a>", "text/xml"),
        ])
    func same(recorded: String, sent: String, type: String) throws {
        func request(_ body: String) -> RecordedExchange { exchange("POST", headers: ["Content-Type": type], body: body) }
        var replay = NewRecording([request(recorded)]).replay
        #expect(try replay.entry(for: request(sent)).get() == 0)
    }

    @Test(
        "What is ignored is not compared: a bare name wherever it is the last, and the own name of a line there alone",
        arguments: [
            (["id"], ["/a?id=1", "{\"x\":{\"id\":1}}"], ["/a?id=2", "{\"x\":{\"id\":2}}"], true),
            (["path 2"], ["/a/1", "{}"], ["/a/2", "{}"], true), (["path 1"], ["/a/1", "{}"], ["/a/2", "{}"], false),
            (["body.items[].id"], ["/a", "{\"items\":[{\"id\":1}]}"], ["/a", "{\"items\":[{\"id\":2}]}"], true),
            (["body.items[].id"], ["/a", "{\"id\":1}"], ["/a", "{\"id\":2}"], false),
            (["query id"], ["/a?id=1", "{}"], ["/a", "{}"], true),
            (["query id"], ["/a", "{\"id\":1}"], ["/a", "{\"id\":2}"], false),
        ])
    func ignored(names: [String], recorded: [String], sent: [String], isAnswered: Bool) {
        func request(_ parts: [String]) -> RecordedExchange { sending(parts[1], to: "https://a.example\(parts[0])") }
        var replay = NewRecording([request(recorded)], RecordingOptions(ignoring: names)).replay
        #expect((try? replay.entry(for: request(sent)).get()) == (isAnswered ? 0 : nil))
    }

    @Test("The name of an uploaded file is ignored, and its bytes are compared")
    func fileName() async throws {
        var test = test
        test.ignored = ["photo.filename"]
        @Sendable func upload(_ provider: DefaultAPIProvider, _ name: String, _ bytes: String) async throws -> String {
            let part = MultipartPart(name: "photo", data: Data(bytes.utf8), contentType: "image/png", fileName: name)
            return try await provider.request(Endpoint<String>(.post, "/upload", body: .multipart([part]))).value
        }
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await upload($0, "\(UUID()).png", "bytes") }
        #expect(try await test.run(.replay) { try await upload($0, "\(UUID()).png", "bytes") } == "[1]")
        #expect(await test.failure { try await upload($0, "\(UUID()).png", "other") }.contains("body.photo: expected"))
    }

    @Test("A 304 answers a request with its condition, and no other")
    func conditions() async throws {
        let server = answering(statusCode: 304)
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/feed", headers: ["If-None-Match": "\"v1\""]) }
        #expect(await test.failure { try await $0.text(.get, "/feed") }.contains("header if-none-match: expected"))
    }

    @Test("A GET whose condition was not met needs no condition, a 304 beside it does, and a PUT always")
    func unmetConditions() throws {
        let get = exchange(answer: "[1]"), sent: HTTPHeaders = ["If-None-Match": "\"v1\""]
        let unmet = exchange(headers: sent, answer: "[2]", at: 1)
        let met = exchange(headers: sent, answer: "", status: 304, at: 2)
        for requests in [[get, unmet, met], [get, met], [unmet, met], [met, unmet]] {
            let exchanges = requests.enumerated().map { index, request in
                var request = request
                request.order = (2 * index, 2 * index + 1)
                return request
            }
            let recording = NewRecording(exchanges)
            var replay = recording.replay
            #expect(recording.problems == [], "\(recording.problems)")
            for index in exchanges.indices { #expect(try replay.entry(for: exchanges[index]).get() == index) }
            #expect(try recording.replay.entries[recording.replay.choice(for: get).get().number].exchange.response?.statusCode == 200)
        }
        let put = exchange("PUT", headers: ["If-Match": "\"v1\""])
        let replay = NewRecording([put]).replay
        #expect(throws: Replay.Failure.self) { try replay.choice(for: exchange("PUT")).get() }
        #expect(throws: Replay.Failure.self) { try replay.choice(for: exchange("PUT", headers: ["If-Match": "\"v2\""])).get() }
    }

    // MARK: - Placeholders

    private func outcome(_ recorded: [RecordedExchange], sending sent: [RecordedExchange], _ environment: [String: String] = [:]) -> [Int?]
    {
        let recording = NewRecording(recorded, environment: environment)
        #expect(recording.problems == [])
        var replay = recording.replay
        return sent.map { try? replay.entry(for: $0).get() }
    }

    @Test(
        "Where a secret has its name, any text matches, also an empty one and a dummy; a request without it does not",
        arguments: [
            ("Bearer abc123DEF456", "Bearer other-Secret-9", true), ("Bearer abc123DEF456", "Bearer ", true),
            ("Bearer abc123DEF456", "Bearer", true),
            ("Bearer abc123DEF456", "Bearer x", true), ("Bearer abc123DEF456", "Basic abc123DEF456", false),
            ("Basic b2N0b2NhdDpzM2NyZXQ5OQ==", "Basic Og==", true), ("Basic b2N0b2NhdDpzM2NyZXQ5OQ==", "Basic dummy", true),
            ("Basic b2N0b2NhdDpzM2NyZXQ5OQ==", "Basic bWU6aHVudGVyMg==", true), ("Bearer abc123DEF456", nil, false),
            (
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=abc123DEF456",
                "AWS4-HMAC-SHA256 Credential=x/20270101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=def", true
            ),
        ] as [(String, String?, Bool)])
    func authorization(recorded: String, sent: String?, isAnswered: Bool) {
        let found = outcome([exchange(headers: ["Authorization": recorded])], sending: [exchange(headers: ["Authorization": sent])])
        #expect(found == [isAnswered ? 0 : nil])
    }

    @Test("A secret takes a text where it has its name, and must equal it everywhere else")
    func elsewhere() {
        func order(_ cookie: String, _ path: String, _ note: String, at time: Int = 0) -> RecordedExchange {
            sending("{\"note\":\"for \(note)\"}", to: "https://a.example/users/\(path)/orders", headers: ["Cookie": cookie], at: time)
        }
        let id = "Xq7user8412345zz"
        let recorded = order("uid=\(id)", id, id)
        #expect(outcome([recorded], sending: [order("uid=other-Id-7", "other-Id-7", "other-Id-7")]) == [0])
        for wrong in [order("uid=\(id)", "null", id), order("uid=\(id)", id, "null"), order("theme=dark", "null", "null")] {
            #expect(outcome([recorded], sending: [wrong]) == [nil])
        }
    }

    @Test("A key that stands in a text without a listed name takes another run's key there, and no other text beside it")
    func keys() {
        let (key, other) = ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_9x2hQm4LpZ7vT1bR8sK3wY6nC5dF0gJ2aE4u")
        let requests: [(String) -> RecordedExchange] = [
            { sending(#"{"note":"key \#($0), main"}"#) }, { exchange("GET", "https://a.example/?q=\($0)&page=1") },
        ]
        for request in requests {
            #expect(outcome([request(key)], sending: [request(other)]) == [0])
            #expect(outcome([request(key)], sending: [request("\(other) of Ann")]) == [0])
            #expect(outcome([request(key), request(key)], sending: [request(other), request(key)]) == [0, nil])
        }
        #expect(outcome([requests[0](key)], sending: [sending(#"{"note":"key \#(other), beta"}"#)]) == [nil])
    }

    @Test("A secret that was first sent without a listed name takes a text there, and the same text everywhere")
    func openBeforeListed() {
        let (id, other) = ("4zru4Xntv0ahXhfx0d9X", "9kQw2mTb7yLc5sVe1nRa")
        func first(_ id: String) -> RecordedExchange { exchange("GET", "https://a.example/decide?visitor=\(id)&page=1") }
        func second(_ id: String) -> RecordedExchange { sending(#"{"note":"for \#(id), main"}"#, to: "https://a.example/note", at: 1) }
        let listed: [(String) -> RecordedExchange] = [
            { exchange("GET", "https://a.example/me", headers: ["Cookie": "sid=\($0)"], at: 2) },
            { exchange("GET", "https://a.example/me", headers: ["Authorization": "Bearer \($0)"], at: 2) },
        ]
        for last in listed {
            let recorded = [first(id), second(id), last(id)]
            #expect(outcome(recorded, sending: recorded) == [0, 1, 2])
            #expect(outcome(recorded, sending: [second(other), first(other), last(other)]) == [1, 0, 2])
            for wrong in [[first(id), second(other)], [second(id), first(other)], [first(id), last(other)]] {
                #expect(outcome(recorded, sending: wrong).last == .some(nil))
            }
            // After its listed name, the secret is that name's.
            #expect(
                outcome(
                    [last(id), exchange("GET", "https://a.example/?q=\(id)", at: 3)],
                    sending: [exchange("GET", "https://a.example/?q=\(other)")]) == [nil])
        }
    }

    @Test("A secret with a plus that the app sends as a space is red")
    func plus() {
        func search(_ key: String, _ query: String) -> RecordedExchange {
            exchange("GET", "https://a.example/?note=a\(query)b", headers: ["X-Api-Key": key])
        }
        #expect(
            outcome([search("aB3+c/D4+e5==", "aB3%2Bc/D4%2Be5==")], sending: [search("x+y z", "x%2By%20z"), search("x+y z", "x+y%20z")])
                == [0, nil])
    }

    @Test("A short number is a placeholder where it has its name, and any number elsewhere")
    func shortNumbers() {
        func pay(_ pin: Int, _ limit: Int, _ path: String = "100") -> RecordedExchange {
            sending("{\"pin\":\(pin),\"limit\":\(limit)}", to: "https://a.example/items/\(path)?page=100", headers: ["X-Page": "100"])
        }
        let other = exchange(answer: #"{"otp":35}"#, at: 1)
        #expect(outcome([pay(471, 100), other], sending: [pay(982, 100), other]) == [0, 1])
        #expect(outcome([pay(471, 100), other], sending: [pay(10, 100)]) == [0])
        for wrong in [pay(471, 471), pay(471, 982), pay(471, 100, "471")] { #expect(outcome([pay(471, 100)], sending: [wrong]) == [nil]) }
    }

    @Test("A short number in a text is hidden behind its name, and no number matches it there")
    func shortNumberInText() {
        func pay(_ pin: Int, _ text: String) -> RecordedExchange {
            sending("{\"pin\":\(pin),\"link\":\"https://a.example/?\(text)&n=1000\"}")
        }
        let recorded = [pay(471, "pin=471")]
        #expect(!NewRecording(recorded).text.contains("471"))
        for (pin, text) in [(471, "pin=471"), (982, "pin=982"), (982, "pin=1")] {
            #expect(outcome(recorded, sending: [pay(pin, text)]) == [nil])
        }
        // A longer text is found there.
        #expect(outcome([pay(471, "token=abc123DEF")], sending: [pay(982, "token=other-One")]) == [0])
    }

    @Test("An app may send a word as one response has it in clear, or its placeholder from another response, and nothing else")
    func clearAndReplaced() throws {
        func me(_ token: String, _ path: Character, at time: Int = 0) -> RecordedExchange {
            exchange("GET", "https://a.example/\(path)", headers: ["Authorization": "Bearer \(token)"], at: time)
        }
        let login = exchange(answer: #"{"refresh_token":"plainword"}"#)
        // It came when the word had been sent, and has the placeholder.
        let status = exchange("GET", "https://a.example/status", answer: #"{"refresh_token":"plainword"}"#, at: 2)
        let recording = NewRecording([login, me("plainword", "a", at: 1), status, me("plainword", "b", at: 3), me("plainword", "c", at: 4)])
        let placeholder = try #require(recording.replacer.secrets.first?.placeholder)
        #expect(recording.answer(0).contains("plainword") && recording.answer(2).contains(placeholder))
        func answered(_ earlier: [RecordedExchange], _ tokens: String...) -> [Bool] {
            var replay = recording.replay
            return (earlier + zip(tokens, "abc").map { me($0, $1) }).map { (try? replay.entry(for: $0).get()) != nil }
        }
        // In flight together, the status may be answered first.
        #expect(answered([login, status], "plainword", placeholder, "plainword") == [true, true, true, true, true])
        #expect(answered([login, status], placeholder, "plainword", placeholder) == [true, true, true, true, true])
        #expect(answered([login, status], "plainword", placeholder, "otherword") == [true, true, true, true, false])
        // No response has had it.
        #expect(answered([login], "plainword", placeholder) == [true, true, false])
    }

    @Test("What came in a response matches itself alone: a stale token is red")
    func stale() {
        let login = exchange("POST", "https://a.example/login", answer: #"{"access_token":"abc123DEF456"}"#)
        func me(_ token: String) -> RecordedExchange {
            exchange("GET", "https://a.example/me", headers: ["Authorization": "Bearer \(token)"], at: 1)
        }
        #expect(outcome([login, me("abc123DEF456")], sending: [login, me("token-001")]) == [0, 1])
        #expect(outcome([login, me("abc123DEF456")], sending: [login, me("abc123DEF456")]) == [0, nil])
        #expect(outcome([login, me("abc123DEF456")], sending: [login, me("")]) == [0, nil])
    }

    @Test(
        "Two users have two placeholders, by header and by cookie, and neither gets the other's answer",
        arguments: ["Authorization", "Cookie"])
    func users(header: String) {
        let texts =
            header == "Cookie" ? ["sid=annAAAA11112222xyz", "sid=bobBBBB11112222xyz"] : ["Bearer annAAAA1111", "Bearer bobBBBB2222"]
        func order(_ user: Int, _ method: String = "POST", at time: Int = 0) -> RecordedExchange {
            exchange(method, "https://a.example/orders", headers: [header: texts[user]], answer: "\(user)", at: time)
        }
        let recorded = [order(0, at: 0), order(1, at: 1), order(0, "GET", at: 2), order(1, "GET", at: 3)]
        #expect(outcome(recorded, sending: [order(0), order(1), order(1, "GET"), order(0, "GET"), order(0, "GET")]) == [0, 1, 3, 2, 2])
        // A second POST of one user is not the other's.
        #expect(outcome(recorded, sending: [order(0), order(0)]) == [0, nil])
    }

    @Test("Requests at once that differ only in a secret are refused, unless both secrets have been sent before")
    func atOnce() {
        func order(_ user: String, _ method: String, _ begin: Int, _ end: Int) -> RecordedExchange {
            var order = exchange(method, "https://a.example/orders", headers: ["Authorization": "Bearer \(user)"], answer: user)
            order.order = (begin, end)
            return order
        }
        let (ann, bob) = ("annAAAA1111", "bobBBBB2222")
        let known = [order(ann, "GET", 0, 1), order(bob, "GET", 2, 3)]
        let atOnce = [order(ann, "POST", 4, 7), order(bob, "POST", 5, 6)]
        let (carl, dora) = ("carlCCCC3333", "doraDDDD4444")
        let sent = [order(carl, "GET", 0, 0), order(dora, "GET", 0, 0), order(dora, "POST", 0, 0), order(carl, "POST", 0, 0)]
        #expect(outcome(known + atOnce, sending: sent) == [0, 1, 3, 2])
        #expect(NewRecording(atOnce).problems.count == 1)
        // Of these, each sends both secrets.
        let crossing = [(ann, bob), (bob, ann)].enumerated().map { number, users -> RecordedExchange in
            var request = sending("{\"password\":\"\(users.0)\"}", headers: ["X-Api-Key": users.1], answer: "\(number)")
            request.order = (number, number + 2)
            return request
        }
        #expect(NewRecording(crossing).problems.count == 1)
        // A third that has both secrets may come last.
        var third = crossing[0]
        third.order = (2, 4)
        #expect(NewRecording([order(ann, "GET", 0, 5), order(bob, "GET", 1, 3), third]).problems.count == 1)
    }

    @Test("A cookie that only one side has is no mismatch, and decides between entries that match")
    func cookies() {
        let secret = "abcDEF123456789xyz"
        let recorded = [
            exchange(headers: ["Cookie": "sid=\(secret)"], answer: "1", at: 0),
            exchange(headers: ["Cookie": "sid=\(secret); cart=9aB8cD7eF6gH5iJ4kL"], answer: "2", at: 1),
        ]
        #expect(
            outcome(recorded, sending: [exchange(headers: ["Cookie": "sid=x; cart=y"]), exchange(headers: ["Cookie": "sid=x"])]) == [1, 0])
        #expect(outcome([recorded[1]], sending: [exchange(), exchange(headers: ["Cookie": "theme=dark"])]) == [0, 0])
    }

    @Test("What the app makes anew in each run matches by default, and a state that is a word does not")
    func madeAnew() {
        func authorize(_ state: String, _ challenge: String) -> RecordedExchange {
            exchange("GET", "https://a.example/authorize?client_id=app&state=\(state)&nonce=\(state)n&code_challenge=\(challenge)")
        }
        let recorded = authorize("Zk39dkEE02pQ", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(outcome([recorded], sending: [authorize("Yk39dkEE02pR", "A9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")]) == [0])
        #expect(outcome([recorded], sending: [authorize("open", "x")]) == [nil])
        func issues(_ state: String) -> RecordedExchange { exchange("GET", "https://a.example/issues?state=\(state)") }
        #expect(outcome([issues("open")], sending: [issues("closed")]) == [nil])
        func signed(_ date: String, _ signature: String) -> RecordedExchange {
            exchange("GET", "https://b.example/f?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE&X-Amz-Date=\(date)&X-Amz-Signature=\(signature)")
        }
        #expect(
            outcome([signed("20260101T000000Z", "abc123DEF456")], sending: [signed("20270101T000000Z", "1"), signed("2", "2")]) == [0, 0])
    }

    @Test("A response has the text of this replay, with the escapes of its place, and in the claims of a JWT")
    func filled() async throws {
        let server = server { request in
            let key = request.headers["X-Api-Key"] ?? ""
            let quoted = String(decoding: (try? JSONEncoder().encode(key)) ?? Data(), as: UTF8.self)
            return
                "{\"key\":\(quoted),\"url\":\"https://a.example/?k=\(key.escapedAsValue)\",\"jwt\":\"\(jwt("{\"api_key\":\(quoted),\"exp\":4000000000}"))\"}"
        }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a", headers: ["X-Api-Key": "abc \"123\" DEF/456"]) }
        let other = "x\"y/z & 9"
        let text = try await test.run(.replay) { try await $0.text(.get, "/a", headers: ["X-Api-Key": other]) }
        let answer = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(answer["key"] == other && answer["url"] == "https://a.example/?k=\(other.escapedAsValue)")
        let claims = try #require(answer["jwt"]?.split(separator: ".").map(String.init).dropFirst().first.flatMap { Data(base64URL: $0) })
        #expect((try JSONSerialization.jsonObject(with: claims) as? [String: Any])?["api_key"] as? String == other)
    }

    @Test("A response shows a number that the app sends if it has eight digits or more, and stays JSON whatever the app sends")
    func numberOfAnotherRun() async throws {
        let server = server { "{\"pin\":\($0.headers["X-Pin"] ?? "0"),\"n\":10000000}" }
        for (recorded, sent, shown) in [
            ("47110011", "47110022", "47110022"), ("47110011", "none yet", "10000001"), ("47110011", "", "10000001"),
            ("4711001", "4711002", "1000000"),
        ] {
            let test = RecordedTest()
            try await test.run(.record, from: server) { _ = try await $0.text(.get, "/pin", headers: ["X-Pin": recorded]) }
            let answer = try await test.run(.replay) { try await $0.text(.get, "/pin", headers: ["X-Pin": sent]) }
            #expect(answer == "{\"pin\":\(shown),\"n\":10000000}")
        }
    }

    // MARK: - Choosing

    @Test("Entries of the same request answer in their order; a GET, and a query of GraphQL, gets the last again, and nothing else does")
    func repeated() {
        func query(_ text: String, at time: Int) -> RecordedExchange {
            sending("{\"query\":\"\(text)\"}", to: "https://a.example/graphql", at: time)
        }
        let gets = (0..<2).map { exchange(answer: "\($0)", at: $0) }
        #expect(outcome(gets, sending: gets + gets) == [0, 1, 1, 1])
        for (text, isRepeated) in [
            ("query { me }", true), ("{ me }", true), ("fragment F on U { id } query { me }", true), ("mutation { pay }", false),
            ("fragment F on U { id } mutation { pay }", false), ("subscription { x }", false),
        ] {
            #expect(
                outcome([query(text, at: 0)], sending: [query(text, at: 0), query(text, at: 1)]) == [0, isRepeated ? 0 : nil], "\(text)")
        }
    }

    @Test("What changes nothing on the server is repeated by its path, or by its operation, and a report offers it")
    func repeating() throws {
        func request(_ path: String, _ target: String) -> RecordedExchange {
            exchange("POST", "https://a.example\(path)", headers: ["X-Amz-Target": target])
        }
        for (pattern, path, target, isRepeated) in [
            ("/v1/*:runQuery", "/v1/projects/p/databases/d/documents:runQuery", "a", true),
            ("/v1/*:runQuery", "/v2/x:runQuery", "a", false),
            ("X-Amz-Target: *.GetItem", "/", "DynamoDB_20120810.GetItem", true),
            ("X-Amz-Target: *.GetItem", "/", "DynamoDB_20120810.PutItem", false),
        ] {
            var replay = NewRecording([request(path, target)], RecordingOptions(repeating: [pattern])).replay
            #expect(try replay.entry(for: request(path, target)).get() == 0)
            #expect((try? replay.entry(for: request(path, target)).get()) == (isRepeated ? 0 : nil), "\(pattern)")
        }
        var replay = NewRecording([request("/orders", "a"), request("/orders", "a")]).replay
        for index in 0..<2 { #expect(try replay.entry(for: request("/orders", "a")).get() == index) }
        let failure = #expect(throws: Replay.Failure.self) { try replay.entry(for: request("/orders", "a")).get() }
        #expect(
            failure?.description
                == "POST https://a.example/orders was recorded twice (session.har: log.entries[1]), and was sent once more. If it "
                + "changes nothing on the server, add repeating: [\"/orders\"].")
    }

    @Test("Two secrets that have one text now are told so")
    func oneText() throws {
        func login(_ password: String, at time: Int = 0) -> RecordedExchange {
            sending("{\"password\":\"\(password)\"}", answer: password, at: time)
        }
        var replay = NewRecording([login("wrong99x", at: 0), login("right99x", at: 1)]).replay
        #expect(try replay.entry(for: login("")).get() == 0)
        let failure = #expect(throws: Replay.Failure.self) { try replay.entry(for: login("")).get() }
        #expect(failure?.description.contains("was recorded with several secrets") == true)
    }

    @Test("For any host, the host that is asked answers first, and links and redirects lead to it")
    func anyHost() async throws {
        var test = test
        test.isForAnyHost = true
        let server = answering(headers: ["Link": "<https://a.example/items?page=2>; rel=\"next\", <https://c.example/x>; rel=help"]) {
            Data(($0.url.host ?? "").utf8)
        }
        try await test.run(.record, from: server) {
            for host in ["a", "b"] { _ = try await $0.text(.get, "https://\(host).example/items") }
        }
        let answers = try await test.run(.replay) { provider in
            [try await provider.text(.get, "https://b.example/items"), try await provider.text(.get, "https://a.example/items")]
        }
        #expect(answers == ["b.example", "a.example"])
        let items = try await test.run(.replay) { try await $0.request(anyRequest("http://localhost:8080/items")).value }
        #expect(try items.link("next")?.absoluteString == "http://localhost:8080/items?page=2")
    }

    @Test("A replay waits for nothing, and times move with the clock")
    func times() throws {
        let placeholders = Placeholders(["token-001": []])
        let writer = ResponseWriter(placeholders: placeholders, texts: [:], elapsed: 86_400)
        let headers = writer.headers([
            "Date": "Thu, 01 Jan 2026 00:00:00 GMT", "Expires": "Thu, 01 Jan 2026 00:00:00 GMT", "Retry-After": "9",
            "Set-Cookie": "a=b; Expires=Thu, 01-Jan-2026 00:00:00 GMT; Path=/, c=d; Expires=Thursday, 01-Jan-2026 00:00:00 GMT",
            "X-At": "Thu, 01 Jan 2026 00:00:00 GMT",
        ])
        #expect(
            headers.map(\.value) == [
                "Fri, 02 Jan 2026 00:00:00 GMT", "Fri, 02 Jan 2026 00:00:00 GMT", "0",
                "a=b; Expires=Fri, 02 Jan 2026 00:00:00 GMT; Path=/, c=d; Expires=Thursday, 01-Jan-2026 00:00:00 GMT",
                "Thu, 01 Jan 2026 00:00:00 GMT",
            ])
        let body = "{\"t\":\"\(jwt(#"{"exp":1900000000,"iat":1,"n":5}"#, "token-001"))\",\"exp\":1900000000}"
        let moved = "{\"t\":\"\(jwt(#"{"exp":1900086400,"iat":86401,"n":5}"#, "token-001"))\",\"exp\":1900000000}"
        #expect(writer.body(Data(body.utf8), "application/json") == Data(moved.utf8))
    }
}
