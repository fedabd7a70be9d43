import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks
@testable import MockNetworkRecordings

@Suite("Recordings, by their rules", tenMinutes)
struct RecordingRulesTests {
    private let test = RecordedTest()

    @Test("A replay warns of the entries that the test has not asked for, and of no other")
    func unused() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) {
            for path in ["/a", "/b", "/c"] { _ = try await $0.text(.get, path) }
        }
        try await test.run(.replay) { _ = try await $0.text(.get, "/b") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("GET https://a.example/a (session.har: log.entries[0])"), "\(warnings)")
        #expect(warnings.contains("GET https://a.example/c (") && !warnings.contains("a.example/b"), "\(warnings)")
        // A test that has failed may have ended early.
        let count = test.warnings.count
        try await test.run(.replay, hasFailed: true) { _ = try await $0.text(.get, "/b") }
        #expect(test.warnings.count == count)
    }

    @Test("Entries answer in the order of their times, to a thousandth of a second")
    func fractions() async throws {
        let entries = [("002", "second"), ("001", "first"), ("1", "third")].map { fraction, body in
            #"{"startedDateTime":"2026-01-01T00:00:00.\#(fraction)Z","request":{"method":"GET","url":"https://a.example/x"},"#
                + #""response":{"status":200,"content":{"text":"\#(body)"}}}"#
        }
        try test.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let answers = try await test.run(.replay) { provider in
            [try await provider.text(.get, "/x"), try await provider.text(.get, "/x"), try await provider.text(.get, "/x")]
        }
        #expect(answers == ["first", "second", "third"])
    }

    @Test("A POST whose own entries are used up takes the next entry of the same URL and body, whatever its headers are")
    func otherHeaders() async throws {
        let entries = [("1", "first"), ("2", "second"), ("2", "third")].map { value, body in
            #"{"request":{"method":"POST","url":"https://a.example/x","headers":[{"name":"X-A","value":"\#(value)"}]},"#
                + #""response":{"status":200,"content":{"text":"\#(body)"}}}"#
        }
        try test.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let answers = try await test.run(.replay) { provider in
            var answers: [String] = []
            for _ in 0..<3 { answers.append(try await provider.text(.post, "/x", headers: ["X-A": "1"])) }
            return answers
        }
        #expect(answers == ["first", "second", "third"])
    }

    @Test("JSON stays JSON if another run sends a text in the place of a number")
    func numberOfAnotherRun() async throws {
        let server = server { "{\"pin\":\($0.headers["X-Pin"] ?? "0")}" }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/pin", headers: ["X-Pin": "4711001"]) }
        #expect(try !test.text.contains("4711001"))
        for pin in ["4711002", "none yet"] {
            let answer = try await test.run(.replay) { try await $0.text(.get, "/pin", headers: ["X-Pin": pin]) }
            let json = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: NSNumber])
            #expect(json["pin"] == (Int(pin) ?? 900_000_001) as NSNumber, "\(answer)")
        }
    }

    @Test("In text that is almost JSON, a value under the name of a secret ends at its quote")
    func almostJSON() async throws {
        let server = answering(headers: ["Content-Type": "text/plain"]) { _ in
            Data(#"log: {"password":"corr3ct \" horse 9","kind":"open"} and "#.utf8)
        }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/log") }
        let answer = try await test.run(.replay) { try await $0.text(.get, "/log") }
        #expect(answer == #"log: {"password":"password-001","kind":"open"} and "#)
    }

    @Test("A large binary body is a warning when it is recorded", arguments: [(1 << 20, true), (1 << 10, false)])
    func largeBodies(size: Int, isTold: Bool) async throws {
        let server = answering(headers: ["Content-Type": "image/png"]) { _ in Data(repeating: 0x9A, count: size) }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/image") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("GET https://a.example/image has a binary body of 1 MB.") == isTold, "\(warnings)")
    }

    @Test(
        "A time is read as seconds or milliseconds since 1970, as ISO 8601 or as an HTTP date, and moves in the same form",
        arguments: [
            ("1767225600", "1767225660"), ("1767225600000", "1767225660000"), ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            ("2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z"), ("Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:01:00 GMT"),
            ("3600", nil), ("later", nil), ("", nil),
        ] as [(String, String?)])
    func times(text: String, moved: String?) {
        #expect(text.moved(by: 60) == moved)
        #expect(text.time == (moved == nil ? nil : Date(timeIntervalSince1970: 1_767_225_600)))
    }

    @Test(
        "A password in text of another encoding keeps the file from being written, in a request and in a response",
        arguments: [
            ("application/json; charset=utf-16le", .utf16LittleEndian), ("application/json; charset=\"UTF-16BE\"", .utf16BigEndian),
            ("application/json", .utf16LittleEndian), ("application/json", .utf16BigEndian), ("", .utf16), ("", .utf16LittleEndian),
            ("text/plain; charset=iso-8859-1", .isoLatin1), ("application/json; charset=shift_jis", .shiftJIS),
            ("text/html", .windowsCP1252), ("application/json; charset=nobody-knows", .isoLatin1),
        ] as [(String, String.Encoding)], ["", "ä", "月"])
    func otherEncoding(encoding: (type: String, encoding: String.Encoding), text: String) throws {
        guard let body = #"{"a":"\#(text)","password":"corr3ct-horse"}"#.data(using: encoding.encoding) else { return }
        var exchange = RecordedExchange(method: "POST", url: "https://a.example/")
        var answered = exchange
        let headers = encoding.type.isEmpty ? [] : [RecordedExchange.Field(name: "Content-Type", value: encoding.type)]
        (exchange.headers, exchange.body) = (headers, Array(body))
        answered.response = .init(status: 200, headers: headers, body: Array(body))
        for exchange in [exchange, answered] {
            let recording = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har")
            if Array(body).isUTF8 {
                #expect(recording.problems.isEmpty && !String(decoding: recording.content, as: UTF8.self).contains("corr3ct-horse"))
            } else {
                #expect(
                    recording.problems == [
                        "POST https://a.example/ has a password in a body that is not UTF-8, where it cannot be replaced"
                    ])
            }
        }
    }

    @Test(
        "A credential in text of another encoding keeps the file from being written",
        arguments: ["token-of-the-header-1", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
    func credentialInOtherEncoding(secret: String) throws {
        var exchange = RecordedExchange(method: "GET", url: "https://a.example/")
        exchange.headers = [.init(name: "Authorization", value: "Bearer token-of-the-header-1")]
        let body = try #require(#"["\#(secret)"]"#.data(using: .utf16LittleEndian))
        exchange.response = .init(status: 200, headers: [.init(name: "Content-Type", value: "application/json")], body: Array(body))
        let recording = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har")
        #expect(recording.problems.count == 1 && recording.problems[0].contains("cannot be replaced"), "\(recording.problems)")
    }

    @Test("In the file of another program, a header that tells two entries apart must match, and one of a single entry need not")
    func varyingHeaders() async throws {
        func entry(_ path: String, _ language: String) -> String {
            #"{"request":{"method":"GET","url":"https://a.example/\#(path)","headers":[{"name":"Accept-Language","value":"\#(language)"}]},"#
                + #""response":{"status":200,"headers":[{"name":"Vary","value":"Accept-Language"}],"content":{"text":"\#(language)"}}}"#
        }
        try test.write(#"{"log":{"entries":[\#([entry("two", "en"), entry("two", "de"), entry("one", "en")].joined(separator: ","))]}}"#)
        let answers = try await test.run(.replay) { provider in
            [
                try await provider.text(.get, "/two", headers: ["Accept-Language": "de"]),
                try await provider.text(.get, "/one", headers: ["Accept-Language": "fr"]),
            ]
        }
        #expect(answers == ["de", "en"])
        let failure = await test.failure { try await $0.text(.get, "/two", headers: ["Accept-Language": "fr"]) }
        #expect(failure.contains(#"header accept-language: expected "en", got "fr""#), "\(failure)")
    }

    @Test("JSON in each of a hundred texts of a body is searched, and so is what follows the scheme of a credential in any case")
    func nestedTexts() async throws {
        let texts = (0..<100).map { #""{\"password\":\"corr3ct-horse-\#($0)\"}""# }
        let server = server { _ in "[\(texts.joined(separator: ","))]" }
        try await test.run(.record, from: server) {
            _ = try await $0.text(.post, "/nested", json: #"{"token":"BEARER corr3ct-token"}"#)
        }
        let text = try test.text
        #expect(!text.contains("corr3ct"), "\(text.prefix(2_000))")
        #expect(text.contains("BEARER token-001"), "\(text.prefix(2_000))")
    }

    @Test("The suggestion is that of the nearest entry")
    func cureOfTheNearest() async throws {
        let entries = ["https://a.example/a?id=1", "https://b.example/b"].map {
            #"{"request":{"method":"GET","url":"\#($0)"},"response":{"status":204}}"#
        }
        try test.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let failure = await test.failure { try await $0.text(.get, "/a?id=2") }
        #expect(failure.contains(#"record again with ignoring: ["id"]"#) && !failure.contains("forAnyHost"), "\(failure)")
    }

    @Test("A recording over an old one with another request is written")
    func otherRequest() async throws {
        for id in [1, 2] {
            try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a?id=\(id)") }
            #expect(try test.text.contains("a?id=\(id)"))
        }
    }

    @Test(
        "If the server has changed a header that tells where to go, or the name of a cookie, the file is written anew",
        arguments: [
            ("Link", "</1>; rel=next", "</2>; rel=next", true), ("Location", "/1", "/2", true),
            ("Set-Cookie", "a=x1y2z3", "b=x1y2z3", true), ("Set-Cookie", "a=x1y2z3", "a=3z2y1x", false), ("X-Served-By", "1", "2", false),
        ])
    func changedHeader(name: String, old: String, new: String, isWritten: Bool) async throws {
        var texts: [String] = []
        for value in [old, new] {
            let server = answering(headers: [name: value]) { _ in Data("[1]".utf8) }
            try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
            texts.append(try test.text)
        }
        #expect((texts[0] != texts[1]) == isWritten)
    }

    @Test(
        "A request that comes too often is told how often it was recorded",
        arguments: [(1, "once"), (2, "twice"), (5, "5 times")])
    func tooOften(count: Int, times: String) async throws {
        try await test.run(.record, from: server { _ in "[1]" }) {
            for _ in 0..<count { _ = try await $0.text(.post, "/orders") }
        }
        let failure = await test.failure { for _ in 0...count { _ = try await $0.text(.post, "/orders") } }
        #expect(
            failure.contains("/orders was recorded \(times) (session.har: log.entries[\(count - 1)]), and was sent once more"),
            "\(failure)")
    }

    @Test("A request that comes too often is named as the file has it, without its secrets")
    func tooOftenWithSecret() async throws {
        let path: RequestPath = "/bot\(secret: "42:Abc-d3F")/send"
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.request(Endpoint<Data>(.post, path)).value }
        let failure = await test.failure { for _ in 0...1 { _ = try await $0.request(Endpoint<Data>(.post, path)).value } }
        #expect(failure.contains("botsecret-001/send was recorded once") && !failure.contains("Abc-d3F"), "\(failure)")
    }

    @Test("A short secret of a response is no secret in a request that was sent before")
    func shortSecretOfLaterResponse() async throws {
        try await test.run(.record, from: server { _ in #"{"pin":3}"# }) {
            for path in ["/pins/3", "/uses/3"] { _ = try await $0.text(.get, path) }
        }
        let urls = try OpenedFile(test.file).entries.compactMap { ($0["request"] as? [String: Any])?["url"] as? String }
        #expect(urls == ["https://a.example/pins/3", "https://a.example/uses/900000001"])
        let failure = await test.failure { _ = try await $0.text(.get, "/pins/4") }
        #expect(failure.contains("/pins/3"), "\(failure)")
    }

    @Test("A secret of a response is told by its placeholder, whatever name it has there", arguments: ["jwt", "auth", "access_token"])
    func secretOfResponse(name: String) async throws {
        let head = Data(#"{"alg":"HS256"}"#.utf8).base64URL
        try await test.run(.record, from: server { _ in #"{"\#(name)":"\#(head).e30.sIgnature1"}"# }) {
            _ = try await $0.text(.get, "/login")
            _ = try await $0.text(.get, "/user", headers: ["Authorization": "Bearer \(head).e30.sIgnature1"])
        }
        let names = try OpenedFile(test.file).log["_names"] as? [String: String]
        #expect(names.map { Set($0.values) } == ["response"], "\(names as Any)")
    }

    @Test("Only a credential of Basic authentication has a password in it", arguments: ["theme:1", "me:s3cretWord"])
    func passwordOfBasic(pair: String) async throws {
        let (encoded, password) = (Data(pair.utf8).base64EncodedString(), String(pair.split(separator: ":")[1]))
        for (name, value, isBasic) in [("Cookie", "prefs=\(encoded)", false), ("Authorization", "Basic \(encoded)", true)] {
            try await test.run(.record, from: server { _ in password }) {
                _ = try await $0.text(.get, "/a", headers: [name: value])
            }
            let text = try OpenedFile(test.file).value("response.content.text") as? String
            #expect(text == (isBasic && password.count > 1 ? "password-001" : password), "\(name)")
            try FileManager.default.removeItem(at: test.file)
        }
    }

    @Test("Secrets in an array of JSON match other texts, each the same one everywhere")
    func array() async throws {
        let body = #"{"password":["s3cret-1","s3cret-2"],"again":"s3cret-1"}"#
        try await test.run(.record, from: server { _ in "in" }) { _ = try await $0.text(.post, "/login", json: body) }
        let other = #"{"password":["other-1","other-2"],"again":"other-1"}"#
        #expect(try await test.run(.replay) { try await $0.text(.post, "/login", json: other) } == "in")
        let wrong = #"{"password":["other-1","other-2"],"again":"other-3"}"#
        let failure = await test.failure { _ = try await $0.text(.post, "/login", json: wrong) }
        #expect(failure.contains("password-001: expected one secret wherever it stands, got several\n"), "\(failure)")
    }

    @Test("A text in a multipart body may look like a number, as secrets of another run may")
    func numberInMultipart() async throws {
        @Sendable func form(_ pin: String) -> Endpoint<String> {
            Endpoint(.post, "/login", body: .multipart([MultipartPart(name: "pin", value: pin)]))
        }
        for recorded in ["s3cretWord", "471100"] {
            try await test.run(.record, from: server { _ in "in" }) { _ = try await $0.request(form(recorded)).value }
            for pin in ["other", "815", "true"] {
                #expect(try await test.run(.replay) { try await $0.request(form(pin)).value } == "in", "\(recorded) \(pin)")
            }
        }
    }

    @Test("The attachment of a failed test hides what its recording hides", arguments: [Recording.Mode.record, .replay])
    func attachment(mode: Recording.Mode) async throws {
        var test = test
        test.hidden = ["ssn"]
        let server = server { _ in #"{"ssn":"123-45-6789"}"# }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
        let attachment = try await test.run(mode, from: server) { provider in
            MockURLProtocol.stub(.get, "/b", respond: .json(#"{"ssn":"987-65-4321"}"#))
            for path in ["/a", "/b"] { _ = try await provider.text(.get, path) }
            return MockURLProtocol.attachment
        }
        let text = String(decoding: try #require(attachment), as: UTF8.self)
        #expect(text.contains("ssn-00") && !text.contains("6789") && !text.contains("4321"), "\(text)")
    }

    @Test("After a reset, the attachment of a failed test hides what its recording hides, and the test is still a failed one")
    func attachmentAfterReset() async throws {
        var test = test
        test.hidden = ["ssn"]
        try await test.run(.record, from: server { _ in "{}" }) { _ = try await $0.text(.get, "/a") }
        let (attachment, hasFailed) = try await test.run(.replay) { provider in
            _ = try await provider.text(.get, "/a")
            MockURLProtocol.hasTestFailed = true
            MockURLProtocol.reset()
            MockURLProtocol.stub(.get, "/b", respond: .json(["ssn": "987-65-4321"]))
            _ = try await provider.text(.get, "/b")
            return (MockURLProtocol.attachment, MockURLProtocol.hasTestFailed)
        }
        let text = String(decoding: try #require(attachment), as: UTF8.self)
        #expect(text.contains("ssn-00") && !text.contains("4321"), "\(text)")
        #expect(hasFailed)
    }

    @Test("A name that stands in the traffic is passed over", arguments: ["token-001", "see token-001.", "token-001 token-002"])
    func standingNames(text: String) async throws {
        let server = server { _ in "{\"note\":\"\(text)\",\"token\":\"abc123DEF456\"}" }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
        let answer = try await test.run(.replay) { try await $0.text(.get, "/a") }
        let next = text.hasSuffix("002") ? "token-003" : "token-002"
        #expect(answer == "{\"note\":\"\(text)\",\"token\":\"\(next)\"}")
    }

    @Test("A name is found as a whole, and not in a longer number")
    func wholeNames() {
        let names = Placeholders(["900000001": .response, "token-001": .request])
        for text in ["1900000001", "9000000012", "token-0011", "token-00"] { #expect(names.occurrences(in: Array(text.utf8)).isEmpty) }
        for (text, found) in [("900000001", ["900000001"]), ("a900000001b token-001.", ["900000001", "token-001"])] {
            #expect(names.occurrences(in: Array(text.utf8)).map(\.placeholder) == found)
        }
    }

    @Test(
        "A placeholder of a request stands for any text, up to the text that follows it",
        arguments: [("x-foo.b", true), ("x-foo.b.b", true), ("x-.b", false), ("x-foo.c", false), ("y-foo.b", false), ("x-foo.b.c", false)])
    func patterns(text: String, isMatch: Bool) {
        let placeholders = Placeholders(["token-001": .request])
        var bindings = Bindings()
        let pattern = Pattern("x-token-001.b", placeholders)
        #expect(pattern.matches(Pattern(text, placeholders), placeholders, &bindings) == isMatch)
    }

    @Test("What is no name of a file cannot name a recording", arguments: ["", ".hidden", "../up", "a/b", "a\0b"])
    func names(name: String) async throws {
        let recording = Recording(name, filePath: test.folder.url("Tests.swift").path)
        let error = await #expect(throws: MockFailure.self) {
            try await recording.run(.record, test: "session()", at: "Tests.swift:1", warn: { _ in }) {}
        }
        #expect("\(error as Any)".contains("cannot name a recording, because it is not the name of a file."))
    }

    @Test("Two recordings whose names differ in case alone are told, because some disks would have one file for both")
    func namesThatDifferInCase() async throws {
        let server = server { _ in "[1]" }
        func record(_ name: String, at place: String, hasFailed: Bool = false) async throws {
            try await MockURLProtocol.withScope {
                let recording = Recording(name, from: server, filePath: test.folder.url("Tests.swift").path)
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                try await recording.run(.record, test: "session()", at: place, hasFailed: { hasFailed }, warn: { _ in }) {
                    _ = try await provider.text(.get, "/a")
                }
            }
        }
        // One that is not written takes no name.
        try await record("page", at: "Tests.swift:0", hasFailed: true)
        try await record("page", at: "Tests.swift:1")
        let error = await #expect(throws: MockFailure.self) { try await record("Page", at: "Tests.swift:2") }
        #expect("\(error as Any)".contains("Page.har was recorded by Tests.swift:1 before, and now by Tests.swift:2."), "\(error as Any)")
    }

    @Test("While it is recorded, a body that came compressed has its own length, as in a replay")
    func compressed() async throws {
        let headers: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "3", "Content-Type": "text/plain"]
        let compressed = RecordedTest()
        for mode in [Recording.Mode.record, .replay] {
            let response = try await compressed.run(mode, from: answering(headers: headers) { _ in Data("decompressed".utf8) }) {
                try await $0.request(anyRequest("https://a.example/a")).value
            }
            #expect(response.headers["Content-Encoding"] == nil && [nil, "12"].contains(response.headers["Content-Length"]))
            #expect(response.data == Data("decompressed".utf8))
            let plain = try await test.run(mode, from: answering(headers: ["Content-Length": "5"]) { _ in Data("plain".utf8) }) {
                try await $0.request(anyRequest("https://a.example/plain")).value
            }
            #expect(plain.headers["Content-Length"] == "5")
        }
    }

    @Test(
        "A recording warns of a time by which its test may turn red, unless it has passed or moves with a token",
        arguments: [
            (#"{"expires_at":"2999-01-01T00:00:00Z"}"#, true), (#"{"expires_at":"2001-01-01T00:00:00Z"}"#, false),
            (#"{"token":"abc123DEF456","expires_at":"2999-01-01T00:00:00Z"}"#, false), (#"{"at":"2999-01-01T00:00:00Z"}"#, false),
        ])
    func expiryWarnings(body: String, isTold: Bool) async throws {
        try await test.run(.record, from: server { _ in body }) { _ = try await $0.text(.get, "/a") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        let warning = "https://a.example/a has expires_at: the test may fail after 2999-01-01T00:00:00Z."
        #expect(warnings.contains(warning) == isTold && warnings.isEmpty != isTold, "\(warnings)")
    }

    @Test(
        "A password is found in each encoding of JSON, with and without a type",
        arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16, .utf32LittleEndian, .utf32BigEndian, .utf32, .isoLatin1],
        ["application/json", "text/plain", ""])
    func encodings(encoding: String.Encoding, type: String) throws {
        for start in type.isEmpty ? [""] : ["", "\u{E9} "] {
            var exchange = RecordedExchange(method: "POST", url: "https://a.example/bot123SECRET/upload")
            exchange.programSecrets = ["bot123SECRET"]
            let body = try #require((start + #"{"password":"hunter2-hunter2","a":"\#u{E9}"}"#).data(using: encoding))
            exchange.response = .init(status: 200, headers: [.init(name: "Content-Type", value: type)], body: Array(body))
            exchange.order = (0, 1)
            let problems = try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har").problems
            #expect(
                problems.count == 1 && problems[0].hasPrefix("POST https://a.example/secret-001/upload has a password in "), "\(problems)")
        }
    }

    @Test("Text that looks like the beginning of many secrets is searched in time", .longComputing)
    func manyBeginnings() {
        for text in ["-----BEGIN PRIVATE KEY-----", "ey.", "ey", "\\", "Bearer ", "a://b:", "a=", "<a>", "<a><![CDATA[", "aB", "\"a\":"] {
            let isInTime = isLinear(500) { count in
                let bytes = Array(String(repeating: text, count: count).utf8)
                return cpuSeconds {
                    let found = SourceText(bytes).unmistakableSecrets()
                    _ = EscapedSearch([Array("secret-of-mine".utf8)] + found.prefix(2).map { Array(bytes[$0.range]) }).matches(in: bytes)
                    _ = LeafFinder.leaves(ofBody: bytes, type: "text/plain")
                    _ = SecretNames(hiding: ["tax_id"]).secret(String(decoding: bytes, as: UTF8.self), isNumber: false)
                    _ = Placeholders(["token-001": .response]).canonical(bytes + Array(".e30.token-001".utf8))
                }
            }
            #expect(isInTime, "\(text)")
        }
    }

    @Test("A video is no text, although it begins with a NUL and has a name of the list")
    func video() throws {
        let body = [0, 0, 0, 0x18] + Array("ftyp password=corr3ct-horse".utf8) + [0xFF, 0xD8]
        #expect(body.textInOtherEncoding(type: "video/mp4") == nil && body.textInOtherEncoding(type: "") == nil)
        #expect(body.textInOtherEncoding(type: "text/plain") != nil)
    }

    @Test("An ordinary word of a response in another encoding is no secret")
    func ordinaryWordInOtherEncoding() throws {
        var exchange = RecordedExchange(method: "GET", url: "https://a.example/")
        let body = try #require(#"{"token":"none"}"#.data(using: .utf16LittleEndian))
        exchange.response = .init(status: 200, headers: [.init(name: "Content-Type", value: "application/json")], body: Array(body))
        #expect(try NewRecording([exchange], RecordingOptions(), test: nil, name: "a.har").problems.isEmpty)
    }
}
