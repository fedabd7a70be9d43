import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("A second attack on recordings", tenMinutes, .longComputing)
struct SecondAttackTests {
    private static let secret = "q8Zt41LmPx77Rv02Hd"

    // MARK: - Secrets

    @Test("A cookie that the app sends before the same text in the open, or with it, is in no file")
    func cookieBeforeOpenText() {
        let cookie: HTTPHeaders = ["Cookie": "sid=\(Self.secret)"]
        let renewed: HTTPHeaders = ["Set-Cookie": "sid=\(Self.secret); Path=/"]
        let sessions = [
            [exchange(headers: cookie), sending("{\"note\":\"\(Self.secret)\"}", at: 1), exchange(responseHeaders: renewed, at: 2)],
            [exchange("GET", "https://a.example/?note=\(Self.secret)", headers: cookie, responseHeaders: renewed)],
        ]
        for recording in sessions.map({ NewRecording($0) }) {
            #expect(recording.problems == [] && !recording.text.contains(Self.secret), "\(recording.problems)")
        }
    }

    @Test(
        "A hidden name hides also as a part of a field's name, in XML with a prefix, and in JSON inside other text",
        arguments: [
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"user[address]\"\r\n\r\nRome 12\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"address[city]\"\r\n\r\nRome 12\r\n--b--\r\n"
            ),
            ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"user.address\"\r\n\r\nRome 12\r\n--b--\r\n"),
            ("application/x-www-form-urlencoded", "user%5Baddress%5D%5Bcity%5D=Rome+12"),
            ("text/xml", "<n:a xmlns:n=\"u\"><n:address><n:city>Rome 12</n:city></n:address></n:a>"),
            ("text/html", "<input name=\"user[address]\" value=\"Rome 12\">"),
            ("application/javascript", "callback({\"address\":{\"city\":\"Rome 12\"}});"),
            ("application/javascript", "callback({\"address\":[\"Rome 12\"]});"),
            ("application/json", ")]}',\n{\"address\":{\"city\":\"Rome 12\"}}"),
            ("application/json", "\u{FEFF}{\"address\":{\"city\":\"Rome 12\"}}"),
            ("application/json-seq", "\u{1E}{\"address\":{\"city\":\"Rome 12\"}}\n\u{1E}{\"address\":{\"city\":\"Rome 12\"}}\n"),
            ("application/x-ndjson", "{\"address\":{\"city\":\"Rome 12\"}}\n{\"address\":[\"Rome 12\"]}\n"),
            ("application/json", "{\"address\":{\"city\":\"Rome 12\"}}\r\n{\"address\":1}\r\n"),
            ("text/plain", "log: {\"address\":{\"city\":\"Rome 12\"}}, as asked\n"),
        ])
    func hiddenNames(type: String, body: String) {
        let options = RecordingOptions(hiding: ["address"])
        for exchange in [exchange("POST", headers: ["Content-Type": type], body: body), exchange(answer: body, type: type)] {
            let recording = NewRecording([exchange], options)
            let isInFile = recording.text.contains("Rome 12") || recording.text.contains("Rome+12")
            #expect(!isInFile || !recording.problems.isEmpty, "\(recording.text)")
            #expect(!recording.warnings.contains { $0.hasPrefix("hiding:") }, "\(recording.warnings)")
        }
    }

    @Test("A secret in JavaScript's escapes is in no file", arguments: ["x9Kq2vL0pT7wZ3nB", "Schlüßel9-of-ann🔑"])
    func script(secret: String) {
        let escapes = secret.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined()
        let recording = NewRecording([
            sending("{\"password\":\"\(secret)\"}"), exchange(answer: "<script>a = '\(escapes)'</script>", type: "text/html", at: 1),
        ])
        #expect(recording.problems == [] && recording.answer(1) == "<script>a = 'password-001'</script>", "\(recording.problems)")
    }

    // MARK: - Answers

    @Test(
        "A secret of another kind, such as null, is no text of the test",
        arguments: [
            (#"{"password":"s3cret-word-99"}"#, ["null", "true", "12", "{}", "[]"]),
            (#"{"pin":4711}"#, ["null", "true", "\"4711\"", "{}", "[]"]),
        ])
    func kinds(body: String, others: [String]) throws {
        let recording = NewRecording([sending(body)])
        let replay = Replay(try HARFile(recording.file.data, name: "session.har"), RecordingOptions())
        #expect(throws: Never.self) { try replay.choice(for: sending(body)).get() }
        let start = try #require(body.firstIndex(of: ":"))
        for other in others {
            #expect(throws: Replay.Failure.self, "\(other)") { try replay.choice(for: sending("\(body[...start])\(other)}")).get() }
        }
    }

    @Test(
        "A recording with broken placeholders is refused, and is not read as another program's file",
        arguments: ["1", "null", "[]", "{\"a\":1}"])
    func brokenPlaceholders(value: String) {
        let file = Data("{\"log\":{\"_test\":\"Tests.swift session\",\"_placeholders\":\(value),\"entries\":[]}}".utf8)
        #expect {
            try HARFile(file, name: "session.har")
        } throws: { error in
            "\(error)".contains("session.har: log._placeholders is missing, or of another type than in HAR 1.2.")
        }
    }

    // MARK: - Round trips

    @Test(
        "Each body comes back from the file as it was",
        arguments: [
            Data(), Data([0]), Data([0xC3, 0x28]), Data([0x1F, 0x8B, 1]), Data("\u{FEFF}{\"a\":1}".utf8), Data("\u{FEFF}".utf8),
            Data("a\n\u{FEFF}b\"\u{FEFF}\u{FEFF}\\\u{FEFF}".utf8),
            Data("a\r\n\u{2028}\u{0}\u{FFFF}".utf8), Data("e\u{301}é".utf8), Data("{\"a\":1.0,\"b\":123456789012345678901,\"c\":1e2}".utf8),
            Data("\\ud800 \\u0000".utf8),
        ])
    func body(body: Data) throws {
        var sent = exchange("POST", headers: ["Content-Type": "text/plain"])
        sent.body = body
        sent.response?.body = body
        let read = try HARFile(HARFile([sent], test: "a", Placeholders([:])).data, name: "session.har").entries[0].exchange
        #expect(read.body == body && read.response?.body == body)
    }

    @Test(
        "Each header comes back from the file as it was",
        arguments: ["\u{FEFF}a\"\u{FEFF}", "Ã\u{85}rhus", "a\u{2028}b", "", "a\tb, \"é\"", "a, b"])
    func header(value: String) throws {
        let sent = exchange(responseHeaders: ["X-A": value])
        let read = try HARFile(HARFile([sent], test: "a", Placeholders([:])).data, name: "session.har").entries[0].exchange
        #expect(read.response?.headers["X-A"]?.hasSameBytes(as: value) == true)
    }

    // MARK: - Crashes and time

    @Test("A name of marks is recorded and replayed", arguments: [".", "..", ".a."])
    func marks(name: String) throws {
        let sent = exchange(
            "GET", "https://a.example/?\(name)=1", headers: ["Cookie": "\(name)=1", name: "1"],
            responseHeaders: ["Set-Cookie": "\(name)=1", name: "1"])
        let recording = NewRecording([sent], RecordingOptions(hiding: [name], comparing: [name]))
        let replay = Replay(try HARFile(recording.file.data, name: "session.har"), RecordingOptions(comparing: [name]))
        #expect(recording.problems == [] && (try? replay.choice(for: sent).get()) != nil, "\(recording.problems)")
    }

    @Test("A long Base64 text of JSON, and many rows without a pin, take little time")
    func time() {
        let rows = (0..<2000).map { "{\"id\":\($0),\"name\":\"user number \($0)\",\"pin\":\($0 == 0 ? "\"1234\"" : "null")}" }
        let json = "[\(rows.joined(separator: ","))]"
        let seconds = cpuSeconds {
            let recording = NewRecording([exchange(answer: json)])
            #expect(recording.problems == [] && !recording.answer().contains("\"1234\""))
            let base64 = Data(json.utf8).base64EncodedString()
            #expect(Placeholders(["token-001": []]).canonical(base64) == base64)
            let other = String(repeating: "eyJ", count: 100_000)
            #expect(Placeholders(["token-001": []]).canonical(other) == other)
        }
        #expect(seconds < 60)
    }
}
