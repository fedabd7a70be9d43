import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("An attack on secrets", tenMinutes, .longComputing)
struct AttackTests {
    private static let secrets = [
        "Xy7+k/9ZpT2mWv3b==", "hunter2-of-ann", "Pa$$ w0rd \"of\" <ann>", "k3y&of=ann%41", "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        "Schlüßel9-of-ann",
        "back\\slash9-of-ann",
    ]

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    /// The text between the quotes of JSON.
    private static func json(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? ""
    }

    private static func entities(_ text: String) -> String { text.unicodeScalars.map { "&#\($0.value);" }.joined() }

    /// Where a server says the secret again, or an app sends it.
    private static let places: [(name: String, exchange: @Sendable (String) -> RecordedExchange)] = [
        ("path", { exchange("GET", "https://a.example/u/\($0.escapedAsValue)/x") }),
        ("query", { exchange("GET", "https://a.example/?note=a\($0.escapedAsValue)b") }),
        (
            "form",
            { exchange("POST", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "note=\($0.escapedAsValue)&a=1") }
        ),
        ("JSON", { sending("{\"note\":\"is \(json($0))\"}") }),
        ("JSON in JSON", { sending("{\"note\":\"\(json("{\"a\":\"\(json($0))\"}"))\"}") }),
        ("GraphQL", { sending("{\"query\":\"\(json("mutation { a(b: \"\(json($0))\") }"))\"}") }),
        ("name of a member", { sending("{\"\(json($0))\":1}") }), ("answer in JSON", { exchange(answer: "{\"note\":\"\(json($0))\"}") }),
        ("name in an answer", { exchange(answer: "{\"\(json($0))\":{\"a\":1}}") }),
        ("HTML", { exchange(answer: "<p>\($0.escapedAsHTML)</p>", type: "text/html") }),
        ("entities", { exchange(answer: "<p>\(entities($0))</p>", type: "text/html") }),
        ("script", { exchange(answer: "<script>var a = '\(json($0))'</script>", type: "text/html") }),
        ("XML", { exchange(answer: "<a><b c=\"\($0.escapedAsHTML)\"/></a>", type: "text/xml") }),
        ("CDATA", { exchange(answer: "<a><![CDATA[\($0)]]></a>", type: "text/xml") }),
        ("events", { exchange(answer: "data: {\"a\":\"\(json($0))\"}\n\n", type: "text/event-stream") }),
        ("lines", { exchange(answer: "{\"a\":1}\n{\"a\":\"\(json($0))\"}\n", type: "application/x-ndjson") }),
        ("Base64", { exchange(answer: "{\"a\":\"\(base64("user:\($0)"))\"}") }),
        ("Base64 twice", { exchange(answer: "{\"a\":\"\(base64(base64("{\"k\":\"\(json($0))\"}")))\"}") }),
        ("claims", { exchange(answer: "{\"a\":\"\(jwt("{\"note\":\"\(json($0))\"}"))\"}") }),
        ("cookie", { exchange(responseHeaders: ["Set-Cookie": "a=\($0.escapedAsValue); Path=/"]) }),
        ("Location", { exchange(responseHeaders: ["Location": "/a?next=\($0.escapedAsValue.escapedAsValue)"]) }),
        ("Digest", { exchange(headers: ["Authorization": "Digest username=\"x\", nonce=\"\($0.escapedAsValue)\""]) }),
        ("Basic", { exchange(headers: ["Authorization": "Basic \(base64("ann:\($0)"))"]) }),
        ("text", { exchange(answer: "It is \($0).", type: "text/plain") }),
        (
            "binary",
            { secret in
                var exchange = exchange(type: "image/png")
                exchange.response?.body = Data([0x89, 0xFF, 0]) + Data(secret.utf8)
                return exchange
            }
        ),
        (
            "multipart",
            { secret in
                exchange(
                    "POST", headers: ["Content-Type": "multipart/form-data; boundary=b"],
                    body: "--b\r\nContent-Disposition: form-data; name=\"note\"; filename=\"a.txt\"\r\n\r\n\(secret)\r\n--b--\r\n")
            }
        ),
    ]

    /// Requests that say that the text is secret: each in another way.
    private static let markings: [(name: String, options: RecordingOptions, exchange: @Sendable (String) -> RecordedExchange)] = [
        (
            "marked", RecordingOptions(),
            { secret in
                var request = exchange("GET", "https://a.example/marked/\(secret.escapedAsValue)")
                request.markedSecrets = [secret]
                return request
            }
        ),
        ("password", RecordingOptions(keeping: ["note"]), { sending("{\"user\":\"ann\",\"password\":\"\(json($0))\"}") }),
        ("hidden object", RecordingOptions(hiding: ["person"]), { sending("{\"person\":{\"a\":[{\"b\":\"\(json($0))\"}]}}") }),
    ]

    /// All that a reader of the file may see: decoded again and again by Foundation, and not by the recorder.
    private static func readings(of text: String, depth: Int = 0) -> [String] {
        guard depth < 5 else { return [] }
        let entities = entity.replacing(in: text) { $0[1].flatMap { UInt32($0) }.flatMap(Unicode.Scalar.init).map { "\($0)" } }
        let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(entities) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
        let json = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)).map(strings) ?? []
        let words = word.matches(in: text).compactMap {
            $0[0].flatMap { Data(base64URL: $0) }.flatMap { String(data: $0, encoding: .utf8) }
        }
        let quoted = quotes.matches(in: text).compactMap { groups in
            (groups[1] ?? groups[2]).flatMap { try? JSONDecoder().decode(String.self, from: Data("\"\($0)\"".utf8)) }
        }
        let others = ([named, text.removingPercentEncoding ?? ""] + json + words + quoted).filter { !$0.isEmpty && $0 != text }
        return [text] + Set(others).flatMap { readings(of: $0, depth: depth + 1) }
    }

    private static let entity = Expression(#"&#(\d+);"#), word = Expression("[A-Za-z0-9+/_-]{11,}")
    private static let quotes = Expression(#""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'"#)

    private static func strings(_ object: Any) -> [String] {
        switch object {
        case let text as String: [text]
        case let array as [Any]: array.flatMap(strings)
        case let members as [String: Any]: members.flatMap { [$0.key] + strings($0.value) }
        default: []
        }
    }

    @Test("A secret of eight bytes or more, whoever says that it is one and wherever it stands, is in no file", arguments: secrets)
    func attack(secret: String) throws {
        // By day, each place with one of the markings, which is another for each secret.
        let first = Self.secrets.firstIndex(of: secret) ?? 0
        for (number, (marking, options, mark)) in Self.markings.enumerated() {
            for (index, (place, say)) in Self.places.enumerated() where isNight || (first + index) % Self.markings.count == number {
                var other = say(secret)
                other.order = (2, 3)
                let recording = NewRecording([mark(secret), other], options)
                guard recording.problems.isEmpty else { continue }
                for exchange in try HARFile(recording.file.data, name: "session.har").entries.map(\.exchange) {
                    let bodies = [exchange.body, exchange.response?.body ?? Data()].map { String(decoding: $0, as: UTF8.self) }
                    let fields = exchange.headers.map(\.value) + (exchange.response?.headers.map(\.value) ?? [])
                    for text in [exchange.url] + bodies + fields {
                        let isFound = Self.readings(of: text).contains { $0.contains(secret) }
                        #expect(!isFound, "\(marking), \(place): \(text)")
                    }
                }
            }
        }
    }

    @Test("The attack finds each secret where it stands as it came", arguments: secrets)
    func sight(secret: String) {
        for (place, say) in Self.places where place != "binary" {
            let exchange = say(secret)
            let fields = exchange.headers.map(\.value) + (exchange.response?.headers.map(\.value) ?? [])
            let bodies = [exchange.body, exchange.response?.body ?? Data()].map { String(decoding: $0, as: UTF8.self) }
            #expect(([exchange.url] + fields + bodies).flatMap { Self.readings(of: $0) }.contains { $0.contains(secret) }, "\(place)")
        }
    }

    @Test("An ordinary secret in an ordinary place is replaced, and refuses nothing", arguments: secrets.prefix(2))
    func isNotRefused(secret: String) {
        for (place, say) in Self.places where !["Base64", "Base64 twice", "binary", "Digest", "entities"].contains(place) {
            for (marking, options, mark) in Self.markings {
                var other = say(secret)
                other.order = (2, 3)
                let problems = NewRecording([mark(secret), other], options).problems
                #expect(problems == [] || place == "name of a member", "\(marking), \(place): \(problems)")
            }
        }
    }
}
