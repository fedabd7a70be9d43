import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

/// Swift compares texts by characters, and a mark behind a text makes its last character another one. Servers and files have bytes. At the
/// start of a text, Foundation's decoding on Linux leaves out a byte order mark.
@Suite("Texts beside combining marks", tenMinutes, .longComputing)
struct CombiningMarkTests {
    static let marks = ["\u{301}", "\u{FE0F}", "\u{20E3}", "\u{200D}", "\u{FEFF}"]

    /// How a program says that a text is secret.
    private static func marking(_ secret: String, _ mark: String) -> [RecordedExchange] {
        var marked = exchange("GET", "https://a.example/marked/\(secret.escapedAsValue)")
        marked.markedSecrets = [secret]
        return [
            marked, sending("{\"password\":\"\(secret)\"}"), exchange(headers: ["Authorization": "Bearer \(secret)"]),
            exchange(answer: "{\"tokens\":{\"a\":\"\(secret)\"}}"), exchange(headers: ["Cookie": "sid=\(secret)"]),
            exchange(headers: ["Cookie": "\(mark)sid=\(secret)"]),
            exchange("GET", "https://a.example/?\(mark.escapedAsValue)x.token=\(secret)"),
            exchange(answer: "<meta name=\"csrf-token\" content=\"\(secret)\">", type: "text/html"),
            exchange(answer: "token=\"\(secret)\"\(mark)", type: "text/plain"),
            exchange(answer: "It is Bearer \(secret)\(mark).", type: "text/plain"),
        ]
    }

    @Test("A secret is in no file if a mark follows, whoever says that it is secret", arguments: marks)
    func follows(mark: String) {
        let secret = "q8Zt41LmPx77Rv02Hd"
        for marking in Self.marking(secret, mark) {
            let texts = ["a \(secret)\(mark) b", "\(mark)\(secret)\(mark)", "/\(secret)/\(mark)"]
            for answer in texts.map({ exchange(answer: $0, type: "text/plain", at: 1) }) + texts.map({ sending("[\"\($0)\"]", at: 1) }) {
                let recording = NewRecording([marking, answer])
                #expect(recording.problems == [], "\(recording.problems)")
                #expect(!Array(recording.text.utf8).contains(secret), "\(recording.text)")
                let message = recording.replacer.exchanges[1]
                #expect(Array((message.response?.body ?? Data()) + message.body).contains(mark) || mark.isEmpty)
            }
        }
    }

    @Test("What can only be a key is in no file if a mark follows", arguments: marks)
    func keys(mark: String) {
        let keys = [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a", jwt(#"{"sub":"u1"}"#), "https://u:s3cretPw99@a.example",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----",
        ]
        let parts = ["16C7e42F292c6912", "c2lnbmF0dXJlMTIz", "s3cretPw99", "MIIEvQIBADANBgkqhkiG9w0B"]
        for (key, part) in zip(keys, parts) {
            for text in ["\(key)\(mark)", "\(mark)\(key)\(mark)", "is \(key)\(mark)\(key)"] {
                let recording = NewRecording([exchange(answer: text, type: "text/plain")])
                #expect(recording.problems == [] && !Array(recording.text.utf8).contains(part), "\(recording.text)")
            }
        }
    }

    @Test("Both normal forms of a secret are in no file", arguments: [("Schlüßel9-of-ann", "Schlu\u{308}ßel9-of-ann")])
    func normalForms(composed: String, decomposed: String) {
        for (secret, other) in [(composed, decomposed), (decomposed, composed)] {
            let recording = NewRecording([
                sending("{\"password\":\"\(secret)\"}"), sending("{\"note\":\"\(other)\",\"token\":\"\(other)\"}", at: 1),
            ])
            #expect(recording.problems == [], "\(recording.problems)")
            for text in [composed, decomposed] { #expect(!Array(recording.text.utf8).contains(text), "\(recording.text)") }
        }
    }

    @Test("A hidden name hides what is below it if a mark follows or begins a name", arguments: marks)
    func hiddenNames(mark: String) {
        let form = "application/x-www-form-urlencoded"
        let requests = [
            sending("{\"address\":{\"\(mark)city\":\"Elm 5\"}}"), sending("{\"address\":[\"\(mark)Elm 5\"]}"),
            exchange("POST", headers: ["Content-Type": form], body: "address[\(mark)city]=Elm+5"),
            exchange(
                "POST", headers: ["Content-Type": "multipart/form-data; boundary=b"],
                body: "--b\r\nContent-Disposition: form-data; name=\"address[\(mark)city]\"\r\n\r\nElm 5\r\n--b--\r\n"),
            sending("{\"a\":\"address=\\\"Elm 5\\\"\(mark)\"}"), sending("{\"\(mark)home.at\":\"Elm 5\"}"),
        ]
        for request in requests {
            let recording = NewRecording([request], RecordingOptions(hiding: ["address", "\(mark)home.at"]))
            let text = Array(recording.text.utf8)
            #expect(!recording.problems.isEmpty || !text.contains("Elm 5") && !text.contains("Elm+5"), "\(recording.text)")
        }
    }

    @Test("A hidden name hides in both normal forms, in a query, a form, JSON and a cookie")
    func normalFormsOfNames() {
        let forms = ["adr\u{E9}sse", "adre\u{301}sse"]
        for (sent, hidden) in [(0, 0), (0, 1), (1, 0), (1, 1)].map({ (forms[$0], forms[$1]) }) {
            for request in [
                exchange("GET", "https://a.example/?\(sent.escapedAsValue)=Elm5"), sending("{\"\(sent)\":\"Elm5\"}"),
                exchange("POST", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "\(sent.escapedAsValue)=Elm5"),
                exchange(headers: ["Cookie": "\(sent)=Elm5"]),
            ] {
                let recording = NewRecording([request], RecordingOptions(hiding: [hidden]))
                #expect(!Array(recording.text.utf8).contains("Elm5"), "\(recording.text)")
            }
        }
    }

    @Test("A name that has escapes itself is hidden and kept as it is written", arguments: ["caf%C3%A9", "%C3%A9"])
    func escapesInNames(name: String) {
        let requests = [
            exchange(headers: ["Cookie": "\(name)=q8Zt41LmPx77Rv02Hd"]),
            exchange("GET", "https://a.example/?\(name.escapedAsValue)=q8Zt41LmPx77Rv02Hd"),
        ]
        for (number, request) in requests.enumerated() {
            #expect(!NewRecording([request], RecordingOptions(hiding: [name])).text.contains("q8Zt41LmPx77Rv02Hd"))
            let kept = NewRecording([request], RecordingOptions(hiding: number == 0 ? [] : ["other"], keeping: [name]))
            #expect(kept.text.contains("q8Zt41LmPx77Rv02Hd"), "\(kept.text)")
        }
    }

    @Test("A name is listed by its bytes, also after another one that is an equal String")
    func equalNames() {
        let secret = "q8Zt41LmPx77Rv02Hd"
        for name in ["userApi~ey", "USER_API_~EY", "user_TO~EN"] {
            // A Kelvin sign is another scalar than K, and in no listed name.
            let texts = ["\u{212A}", "K"].map { "{\"\(name.replacingOccurrences(of: "~", with: $0))\":\"\(secret)\"}" }
            let recording = NewRecording([
                sending(texts[0].replacingOccurrences(of: secret, with: "x")), sending(texts[1], at: 1),
            ])
            #expect(recording.problems == [] && !recording.text.contains(secret), "\(recording.text)")
        }
    }

    @Test(
        "A line of JSON, and the data of an event, end where their formats say, and not at a separator inside a text",
        arguments: ["\u{2028}", "\u{2029}", "\u{85}"], ["\n", "\r\n", "\r"])
    func lines(separator: String, newline: String) {
        let (object, last) = ("{\"address\":{\"street\":\"Elm 5\(separator)Berlin\"}}", "{\"x\":1}")
        let options = RecordingOptions(hiding: ["address"])
        // JSON lines end with a line feed.
        for type in ["text/plain"] + (newline == "\r" ? [] : ["application/x-ndjson"]) {
            let text = "\(last)\(newline)\(object)\(newline)\(last)"
            let sent = NewRecording([exchange("POST", headers: ["Content-Type": type], body: text)], options)
            #expect(!sent.text.contains("Elm 5"), "\(sent.text)")
            let got = NewRecording([exchange(answer: text, type: type)], options)
            #expect(!got.text.contains("Elm 5"), "\(got.text)")
        }
        let data = object.replacingOccurrences(of: ":{", with: ":\(newline)data: {", options: .literal)
        let events = "id: 1\(newline)data: \(last)\(newline)\(newline)data: \(data)\(newline)\(newline)"
        let got = NewRecording([exchange(answer: events, type: "text/event-stream")], options)
        #expect(!got.text.contains("Elm 5"), "\(got.text)")
    }

    @Test("A response has the text that the app sends, escaped, also before a mark", arguments: marks)
    func answers(mark: String) throws {
        let page = "<p>password-001\(mark)</p>"
        let writer = ResponseWriter(
            placeholders: Placeholders(["password-001": ["body.password"]]), texts: ["password-001": "a&\(mark)<b"], elapsed: 0)
        #expect(writer.body(Data(page.utf8), "text/html").elementsEqual("<p>a&amp;\(mark)&lt;b\(mark)</p>".utf8))
        let text = jwt("{}", "token-001") + mark
        let jwts = ResponseWriter(
            placeholders: Placeholders(["token-001": ["header authorization"]]), texts: ["token-001": "my-own-token"], elapsed: 0)
        #expect(jwts.body(Data(text.utf8), "text/plain").elementsEqual("my-own-token\(mark)".utf8))
    }

    @Test("A name of a file is one segment by bytes", arguments: ["/\u{301}a", "a/\u{FE0F}b", "a\u{0}\u{301}"])
    func fileNames(name: String) async {
        await #expect(throws: (any Error).self) {
            try await Recording(name, filePath: "/tmp/T.swift").run(.record, test: "t()", at: "T.swift:1", warn: { _ in }) {}
        }
    }
}
