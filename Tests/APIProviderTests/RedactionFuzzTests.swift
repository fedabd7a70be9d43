import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Redaction of whatever comes", tenMinutes, .longComputing)
struct RedactionFuzzTests {
    // These yield, so that the tasks of other tests get their turn on two cores.

    private static let styles: [Redactor.Style] = [.sentence, .report, .recording]

    /// Texts with a secret, each in a notation of its own.
    private static let texts = [
        #"{"password":"s3cret","a":1}"#, #"[{"name":"X-Api-Key","value":"s3cret"}]"#, #"{"a":{"tokens":["s3cret",{"b":"s3cret"}]}}"#,
        "a=1&client_secret=s3cret&b=2", "Authorization: Bearer s3cret\r\nHost: a\r\n", "https://me:s3cret@a.example/?a=b",
        "https://a.example/?a=b&access_token=s3cret&c=d", "<a><password>s3cret</password></a>", #"<input name="password" value="s3cret">"#,
        "sent Basic s3cret, and so on", "password = s3cret\nuser = me\n", "login(user: \"me\", password: \"s3cret\")",
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret\r\n--b--\r\n",
    ]

    @Test("A secret is found under up to six layers of other notations")
    func layers() async {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            await Task.yield()
            var text = Self.texts.randomElement(using: &random) ?? ""
            var layers: [String] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) where text.utf8.count < 5_000 {
                let layer = random.layer()
                text = layer.wrap(text)
                layers.append(layer.name)
            }
            for style in Self.styles {
                let result = Redactor(for: style).text(text)
                #expect(!result.contains("s3cret"), "seed \(seed), \(style), \(layers): \(text)")
            }
        }
    }

    @Test("Wherever a text is cut, nothing of its secret is left at the end")
    func cut() async {
        for text in Self.texts {
            await Task.yield()
            let secret = "s3cretS3CRETs3cret"
            let bytes = Array(text.replacingOccurrences(of: "s3cret", with: secret).utf8)
            for end in bytes.indices {
                let cut = String(decoding: bytes[..<end], as: UTF8.self)
                for style in Self.styles {
                    let result = Redactor(for: style).text(cut, isCut: true)
                    #expect(!result.contains(secret.prefix(3)), "\(cut)")
                }
            }
        }
    }

    @Test("Text that is changed anywhere is still redacted without a trap, and stays JSON where it was")
    func mutations() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_500 {
            await Task.yield()
            var bytes = Array((Self.texts.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                bytes = Array(random.layer().wrap(String(decoding: bytes, as: UTF8.self)).utf8)
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert("\"\\{}[]<>&=:%@/?#'-\n".utf8.randomElement(using: &random) ?? 0, at: position)
                case 3: bytes.removeSubrange(position...)
                default: bytes += bytes[position...]
                }
            }
            let data = Data(bytes)
            let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            for style in Self.styles {
                let type = ["application/json", "multipart/form-data; boundary=b", "text/plain", nil].randomElement(using: &random) ?? nil
                let result = Redactor(for: style).body(data, contentType: type)
                guard isJSON else { continue }
                #expect(throws: Never.self, "seed \(seed), \(style): \(String(decoding: data, as: UTF8.self))") {
                    try JSONSerialization.jsonObject(with: result, options: .fragmentsAllowed)
                }
            }
        }
    }

    @Test("What was redacted is not changed by redacting it again")
    func idempotence() async {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            await Task.yield()
            var text = Self.texts.randomElement(using: &random) ?? ""
            for _ in 0..<Int.random(in: 0...3, using: &random) { text = random.layer().wrap(text) }
            for style in [Redactor.Style.sentence, .report] {
                let once = Redactor(for: style).text(text)
                #expect(Redactor(for: style).text(once) == once, "seed \(seed)")
            }
        }
    }

    @Test("Text in text in text is left out beyond a depth, and ends no process")
    func depth() async {
        let layers = [
            "https://h.example/?a=", "https://h.example/#", "--b\nContent-Type: multipart/mixed; boundary=b\n\n", "data:,", "a=%25",
        ]
        for layer in layers {
            await Task.yield()
            let text = String(repeating: layer, count: 30_000 / layer.utf8.count) + "password=s3cret"
            for style in Self.styles { #expect(!Redactor(for: style).text(text).contains("s3cret"), "\(layer)") }
        }
    }

    @Test("The time that it takes grows with the text alone")
    func linear() async {
        let patterns = [
            "a:", "[", "{\"a\":", "[x", "<token>", "x <token>", "<a name='x ", "pin={", "a.", "a-", "token={", "token='", "%25", "\\",
            "\\\"",
            "https://u:a/", "&quot;", "<&quot;", "-----BEGIN PRIVATE KEY-----", "a[", "--b\n", "eyJ-", "//a@",
            "{\"name\":\"token\",\"value\":{",
            "data:;base64,", "https://h#", "https://?@value", "data:(", "{'data:",
            "Content-Disposition: form-data; name=\"password\"u:p@h'",
            "--user a:", "token:\n  a", "?a=b&", "'\"`", "Bearer ", "sk-",
        ]
        func seconds(_ pattern: String, _ count: Int) -> Double {
            let text = String(repeating: pattern, count: count / pattern.utf8.count)
            return cpuSeconds { _ = Redactor(for: .recording).text(text) }
        }
        for pattern in patterns {
            await Task.yield()
            #expect(isLinear(2_000) { seconds(pattern, $0) }, "\(pattern.debugDescription)")
        }
    }
}

extension SeededGenerator {
    /// Another notation to write text in.
    fileprivate mutating func layer() -> (name: String, wrap: (String) -> String) {
        let layers: [(String, (String) -> String)] = [
            ("JSON", { #"{"n":1,"data":\#($0.asJSON),"x":true}"# }), ("array", { "[1, \($0.asJSON)]" }), ("string", { $0.asJSON }),
            ("query", { "https://h.example/a?n=1&data=\($0.asURL)&x=y" }), ("form", { "n=1&data=\($0.asURL)&x=y" }),
            ("escapes", { $0.asURL }), ("attribute", { "<div data-x=\"\($0.asHTML)\">a</div>" }),
            ("element", { "<p>\n<pre>\($0.asHTML)</pre></p>" }),
            ("unicode", { text in #"{"data":"\#(text.utf16.map { String(format: "\\u%04x", $0) }.joined())"}"# }),
            ("line", { "a log line: \($0)\nand another" }), ("base64", { "data:text/plain;base64,\(Data($0.utf8).base64EncodedString())" }),
            (
                "multipart",
                { text in
                    // No boundary stands in what it encloses (RFC 2046, section 5.1.1).
                    let boundary = (0...).lazy.map { "--c\($0)" }.first { !text.contains($0) } ?? "--c"
                    return "\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(text)\r\n\(boundary)--\r\n"
                }
            ),
        ]
        return layers.randomElement(using: &self) ?? layers[0]
    }
}

extension String {
    fileprivate var asJSON: String { String(decoding: (try? JSONEncoder().encode(self)) ?? Data(), as: UTF8.self) }
    fileprivate var asURL: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
    fileprivate var asHTML: String {
        [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;")].reduce(self) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
