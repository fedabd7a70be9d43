import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks
@testable import APIProviderRecordings

@Suite("Recordings", tenMinutes)
struct RecordingTests {
    private let test = RecordedTest()

    @Test("What a server has answered is replayed without it", arguments: [true, false])
    func replayed(bySession: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond(headers: ["Content-Type": "application/json"], body: "[\"\(request.target)\"]")
        }
        let request = Endpoint<[String]>(.get, .url(server.url, "/items"), query: ["page": 1])
        for mode in [Recording.Mode.record, .replay, .replay] {
            let value = try await test.run(mode, bySession: bySession) { try await $0.request(request).value }
            #expect(value == ["/items?page=1"])
        }
        #expect(server.requests.count == 1)
    }

    @Test("A POST of code that uses URLSession itself is recorded with its body", arguments: [true, false])
    func plainSession(isStream: Bool) async throws {
        let bodies = Log<String>()
        let server = ClosureTransport { request in
            bodies.append(String(decoding: (try? request.body?.data()) ?? Data(), as: UTF8.self))
            return .just(APIResponse(to: request, statusCode: 201))
        }
        for mode in [Recording.Mode.record, .replay] {
            try await test.run(mode, from: server) { _ in
                let session = URLSession(configuration: MockURLProtocol.configuration)
                var request = URLRequest(url: example)
                request.httpMethod = "POST"
                if isStream { request.httpBodyStream = InputStream(data: Data("sent".utf8)) } else { request.httpBody = Data("sent".utf8) }
                let response = try await session.data(for: request).1
                #expect((response as? HTTPURLResponse)?.statusCode == 201)
            }
        }
        #expect(bodies.entries == ["sent"])
    }

    @Test("What the program marks as secret, or adds as a credential, has a placeholder, and matches another value in a replay")
    func programSecrets() async throws {
        let server = server { "{\"path\":\"\($0.url.path)\"}" }
        func visit(_ mode: Recording.Mode, user: String, token: String) async throws -> String {
            try await test.run(mode, from: server) { _ in
                let authentication = AuthenticationMiddleware(token: token, apply: { $1.headers["X-Api-Key"] = $0 }) { _ in .never() }
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [authentication])
                return try await provider.request(Endpoint<String>(.get, "/users/\(secret: user)")).value
            }
        }
        _ = try await visit(.record, user: "jane of letters", token: "customer of letters")
        let text = try test.text
        #expect(text.contains("/users/secret-00") && !text.contains("of letters") && !text.contains("of%20letters"), "\(text)")
        #expect(try await visit(.replay, user: "joe", token: "any") == #"{"path":"/users/joe"}"#)
    }

    @Test("Two secrets of the environment in flight together, which nothing else tells apart, are refused")
    func inFlight() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await test.run(.record, from: twoAtOnce()) { provider in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for key in ["k3y-of-the-first", "k3y-of-the-second"] {
                        group.addTask { _ = try await provider.text(.get, "/me", headers: ["Authorization": "Bearer \(key)"]) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        #expect(
            "\(error as Any)".contains(
                "Two requests at once differ only in a secret: GET https://a.example/me. A replay cannot tell them apart: send one after the "
                    + "other."), "\(error as Any)")
        #expect(!"\(error as Any)".contains("k3y"))
    }

    /// A server that answers when two requests have come, so that they are in flight together.
    private func twoAtOnce() -> ClosureTransport {
        let waiting = Locked<[(request: PreparedRequest, observer: Single<APIResponse>.SingleObserver)]>([])
        return ClosureTransport { request in
            .create { observer in
                let both = waiting.withLock { waiting in
                    waiting.append((request, observer))
                    return waiting.count == 2 ? waiting : []
                }
                for (request, observer) in both {
                    let body = Data("[\"\(request.headers["Authorization"] ?? "")\"]".utf8)
                    observer(.success(APIResponse(to: request, headers: ["Content-Type": "application/json"], data: body)))
                }
                return Disposables.create()
            }
        }
    }

    @Test("Attempts that were retried are entries, a failure is replayed, and nothing waits for Retry-After")
    func retried() async throws {
        let count = Locked(0)
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { return .error(URLError(.timedOut)) }
            return .just(APIResponse(to: request, statusCode: number == 2 ? 503 : 201, headers: ["Retry-After": "100"]))
        }
        let program: @Sendable (DefaultAPIProvider) async throws -> [String] = { provider in
            var seen: [String] = []
            for _ in 0..<3 {
                do {
                    let response = try await provider.request(anyRequest("https://a.example/")).value
                    seen.append("\(response.statusCode) \(response.headers["Retry-After"] ?? "")")
                } catch { seen.append("\((error as? APIError)?.urlError?.code.rawValue ?? 0)") }
            }
            return seen
        }
        #expect(try await test.run(.record, from: transport, program) == ["-1001", "503 100", "201 100"])
        #expect(try await test.run(.replay, program) == ["-1001", "503 0", "201 0"])
    }

    @Test("While it is recorded, a body that came compressed has its own length, as in a replay")
    func compressed() async throws {
        let headers: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "3", "Content-Type": "text/plain"]
        for mode in [Recording.Mode.record, .replay] {
            let response = try await test.run(mode, from: answering(headers: headers) { _ in Data("decompressed".utf8) }) {
                try await $0.request(anyRequest("https://a.example/a")).value
            }
            #expect(response.headers["Content-Encoding"] == nil && [nil, "12"].contains(response.headers["Content-Length"]))
            #expect(response.data == Data("decompressed".utf8))
        }
    }

    @Test("`editing` changes the file before secrets are looked for, and not what the test gets")
    func editing() async throws {
        var test = test
        test.editing = { exchange in
            exchange.response?.body = Data(#"{"token":"abc123DEF456","n":1}"#.utf8)
            exchange.response?.headers["X-Debug"] = nil
        }
        let server = answering(headers: ["Content-Type": "application/json", "X-Debug": "1"]) { _ in Data("[1]".utf8) }
        #expect(try await test.run(.record, from: server) { try await $0.text(.get, "/a") } == "[1]")
        #expect(try await test.run(.replay) { try await $0.text(.get, "/a") } == #"{"token":"token-001","n":1}"#)
        #expect(try !test.text.contains("X-Debug"))
    }

    // MARK: - What is not written

    @Test("Nothing is written after a failure, without a request, and after a reset")
    func notWritten() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let old = try test.text
        try await test.run(.record, from: server { _ in "[2]" }, hasFailed: true) { _ = try await $0.text(.get, "/a") }
        #expect(test.warnings.entries.last == "session.har was not written, because session() has failed.")
        let sentences = [
            await error { _ in },
            await error {
                MockURLProtocol.reset()
                MockURLProtocol.stub(.get, "/a", respond: .status(200))
                _ = try await $0.text(.get, "/a")
            },
            await error { provider in
                MockURLProtocol.stub(.get, "/a", respond: .status(200))
                _ = try await provider.text(.get, "/a")
            },
        ]
        #expect(sentences[0].contains("no request has reached this mock"), "\(sentences[0])")
        #expect(sentences[1].contains("MockURLProtocol.reset() has removed what was recorded"), "\(sentences[1])")
        #expect(sentences[2].contains("the stubs of the test have answered all its requests"), "\(sentences[2])")
        #expect(try test.text == old)
    }

    private func error(test function: String = "session()", _ body: @Sendable (DefaultAPIProvider) async throws -> Void) async -> String {
        do {
            try await test.run(.record, from: server { _ in "[2]" }, test: function, body)
            return "written"
        } catch { return "\(error)" }
    }

    @Test(
        "A recording is not written over the file of another test or another program",
        arguments: [
            (
                #"{"log":{"_test":"Other.swift search","_placeholders":{},"entries":[]}}"#,
                "session.har belongs to Other.swift search. Name this one differently"
            ),
            (#"{"log":{"creator":{"name":"Charles"},"entries":[]}}"#, "session.har is no recording of a test, and is not written over."),
            (
                "{\"log\":{\n<<<<<<< HEAD\n\"_placeholders\":{}\n=======\n>>>>>>> x\n}}",
                "session.har is no recording of a test, and is not written over."
            ),
            ("notes", "session.har is no recording of a test, and is not written over."),
        ])
    func foreign(content: String, sentence: String) async throws {
        try test.write(content)
        let error = await error { _ = try await $0.text(.get, "/a") }
        #expect(error.contains(sentence), "\(error)")
        #expect(try test.text == content)
    }

    @Test("Another test's file that was written while this one ran stays")
    func writtenSince() async throws {
        let folder = TemporaryFolder()
        let other = #"{"log":{"_test":"Other.swift search","_placeholders":{},"entries":[]}}"#
        let file = folder.url("Recordings/page.har")
        let recording = Recording("page", from: server { _ in "[1]" }, filePath: folder.url("Tests.swift").path, environment: [:])
        let error = await #expect(throws: MockFailure.self) {
            try await MockURLProtocol.withScope {
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                try await recording.run(.record, test: "page()", at: "Tests.swift:1", warn: { _ in }) {
                    _ = try await provider.text(.get, "/a")
                    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try Data(other.utf8).write(to: file)
                }
            }
        }
        #expect(error?.description.contains("page.har belongs to Other.swift search") == true)
        #expect(try String(contentsOf: file, encoding: .utf8) == other)
    }

    @Test("A file that a test of this process has recorded is not recorded again, whatever the case of its name")
    func twice() async throws {
        let folder = TemporaryFolder()
        func record(_ name: String, at place: String, hasFailed: Bool = false) async throws {
            try await MockURLProtocol.withScope {
                let recording = Recording(name, from: server { _ in "[1]" }, filePath: folder.url("Tests.swift").path, environment: [:])
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                try await recording.run(.record, test: "session()", at: place, hasFailed: { hasFailed }, warn: { _ in }) {
                    _ = try await provider.text(.get, "/a")
                }
            }
        }
        // One that is not written takes no name.
        try await record("page", at: "Tests.swift:0", hasFailed: true)
        try await record("page", at: "Tests.swift:1")
        for (name, place) in [("page", "Tests.swift:1"), ("Page", "Tests.swift:2")] {
            let error = await #expect(throws: MockFailure.self) { try await record(name, at: place) }
            #expect(error?.description.contains("\(name).har was recorded already in this process.") == true, "\(error as Any)")
        }
    }

    @Test("What is no name of a file cannot name a recording", arguments: ["", ".hidden", "../up", "a/b", "a\0b"])
    func names(name: String) async throws {
        let recording = Recording(name, filePath: test.folder.url("Tests.swift").path)
        let error = await #expect(throws: MockFailure.self) {
            try await recording.run(.record, test: "session()", at: "Tests.swift:1", warn: { _ in }) {}
        }
        #expect("\(error as Any)".contains("cannot name a recording, because it is not the name of a file."))
    }

    @Test("The file has the mode that the umask gives")
    func mode() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let plain = test.folder.url("plain")
        try Data().write(to: plain)
        let modes = try [test.file, plain].map { try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int }
        #expect(modes[0] == modes[1])
    }

    // MARK: - Recording again

    @Test("If the server has not changed, the file does not change")
    func stable() async throws {
        let (count, changed) = (Locked(0), Locked("1"))
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let body =
                "{\"n\":\(request.url.path == "/b" ? changed.withLock { $0 } : "1"),\"token\":\"t0ken-of-run-\(number)\",\"id_token\":"
                + "\"\(jwt("{\"exp\":\(1_900_000_000 + number)}", "c2lnbmF0dXJl\(number)"))\"}"
            return .just(
                APIResponse(
                    to: request, headers: ["Content-Type": "application/json", "X-Request-Id": "\(number)"], data: Data(body.utf8)))
        }
        func record() async throws -> String {
            try await test.run(.record, from: transport) { for path in ["/a", "/b", "/a"] { _ = try await $0.text(.get, path) } }
            return try test.text
        }
        let first = try await record()
        #expect(try await record() == first)
        changed.withLock { $0 = "2" }
        #expect(try await record() != first)
    }

    @Test(
        "The file is written anew if one of these headers is another, and not for other headers",
        arguments: [
            ("Link", "</1>; rel=next", "</2>; rel=next", true), ("Location", "/1", "/2", true),
            ("Cache-Control", "no-store", "max-age=9", true),
            ("Set-Cookie", "a=x1y2z3", "b=x1y2z3", true), ("Set-Cookie", "a=x1y2z3", "a=3z2y1x", false), ("X-Served-By", "1", "2", false),
            ("Set-Cookie", "a=x; Expires=Thu, 01 Jan 2026 00:00:00 GMT", "a=x; Expires=Fri, 02 Jan 2026 00:00:00 GMT", false),
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

    @Test("What is ignored may differ in a request of a file that stays")
    func ignoredInOldFile() async throws {
        var (test, texts) = (test, [String]())
        test.ignored = ["sent_at"]
        for time in [1, 2] {
            try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.post, "/a", json: "{\"sent_at\":\(time)}") }
            texts.append(try test.text)
        }
        #expect(texts[0] == texts[1])
    }

    @Test("A secret that is the name of a member around another secret is refused, and not written into the list of placeholders")
    func secretAroundASecret() async throws {
        let token = "tok_Zq81kdPq02LmsX9a"
        let failure = await #expect(throws: (any Error).self) {
            try await test.run(.record, from: server { $0.url.path == "/k" ? "{\"token\":\"\(token)\"}" : "[1]" }) { provider in
                _ = try await provider.text(.get, "/k")
                _ = try await provider.text(.post, "/login", json: "{\"password\":\"hunter22xY\"}")
                _ = try await provider.text(.post, "/x", json: "{\"\(token)\":{\"password\":\"hunter22xY\"}}")
            }
        }
        let text = "\(failure.map { "\($0)" } ?? "")"
        #expect(text.contains("is the name of a member around password") && !text.contains(token), "\(text)")
        #expect((try? test.text) == nil)
    }

    @Test("What a test hides by now does not stay in the old file")
    func hiddenInOldFile() async throws {
        var (test, texts) = (test, [String]())
        let server = answering(headers: ["X-Trace": "Zq81kdPq02LmsX9a"]) { _ in Data("[1]".utf8) }
        for hidden in [[], ["X-Trace"]] {
            test.hidden = hidden
            try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
            texts.append(try test.text)
        }
        #expect(texts[0].contains("Zq81kdPq02LmsX9a") && !texts[1].contains("Zq81kdPq02LmsX9a"))
    }

    @Test("A claim that a test hides by now, and a header that it removes, do not stay in the old file")
    func hiddenInOldToken() async throws {
        let claims = Data(#"{"department":"Cardiology42"}"#.utf8).base64URL
        let token = "\(Data(#"{"alg":"HS256"}"#.utf8).base64URL).\(claims).c2lnbmF0dXJl"
        let server = answering(headers: ["X-B": "10.1.2.3"]) { _ in Data("[\"\(token)\"]".utf8) }
        var (test, texts) = (test, [String]())
        for (hidden, isRemoved) in [([], false), (["department"], false), (["department"], true)] {
            test.hidden = hidden
            if isRemoved { test.editing = { $0.response?.headers["X-B"] = nil } }
            try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
            texts.append(try test.text)
        }
        #expect(texts[0].contains(claims) && !texts[1].contains(claims))
        #expect(texts[1].contains("10.1.2.3") && !texts[2].contains("10.1.2.3"))
    }

    // MARK: - In flight together

    @Test("Requests in flight together, recorded again from an unchanged server, change no line of the file")
    func togetherAgain() async throws {
        // The five in the middle are in flight together: they are answered in any order once all have come.
        let waiting = Locked<[@Sendable () -> Void]>([])
        let server = ClosureTransport { request in
            let id = UInt64.random(in: 0...UInt64.max)
            let text = "\(request.url.path)\(String(decoding: (try? request.body?.data()) ?? Data(), as: UTF8.self).count)"
            let token = request.url.path == "/login" ? ",\"token\":\"tok-\(id)x\"" : ""
            let response = APIResponse(
                to: request, headers: ["Content-Type": "application/json", "X-Request-Id": "\(id)", "Date": "\(id)"],
                data: Data("{\"sent\":\"\(text)\"\(token)}".utf8))
            guard ["/a", "/b"].contains(request.url.path) else { return .just(response) }
            return Single.create { observer in
                let all = waiting.withLock { waiting -> [@Sendable () -> Void] in
                    waiting.append { observer(.success(response)) }
                    return waiting.count < 5 ? [] : exchange(&waiting, with: [])
                }
                all.shuffled().forEach { $0() }
                return Disposables.create()
            }
        }
        var first: String?
        for round in 0..<rounds(25) {
            try await test.run(.record, from: server) { provider in
                let login = try await provider.text(.post, "/login", json: "{\"password\":\"pass-\(1000 + round)-Word\"}")
                let token = try member("token", of: login)
                let gets = ["/b", "/a?x=2", "/a?x=1"].map { path -> @Sendable () async throws -> String in
                    { try await provider.text(.get, path, headers: ["Authorization": "Bearer \(token)"]) }
                }
                let posts = ["{\"n\":1}", "{\"n\":2}"].map { body -> @Sendable () async throws -> String in
                    { try await provider.text(.post, "/a", headers: ["X-Api-Key": "key-\(1000 + round)-Abc"], json: body) }
                }
                let tasks = (gets + posts).shuffled().map { send in Task { try await send() } }
                for task in tasks { _ = try await task.value }
                _ = try await provider.text(.delete, "/last")
            }
            let text = try test.text
            #expect(first == nil || first == text, "\(round)")
            first = first ?? text
        }
    }

    @Test("A request stays behind the responses that came before it, whatever is in flight beside them")
    func orderInFlight() {
        func request(_ path: String, _ begin: Int, _ end: Int) -> RecordedExchange {
            var request = exchange("GET", "https://a.example\(path)")
            request.order = (begin, end)
            return request
        }
        let orders = [
            [request("/z", 0, 1), request("/events", 2, 20), request("/y", 3, 5), request("/x", 4, 6), request("/a", 7, 8)],
            [request("/z", 0, 1), request("/x", 2, 6), request("/y", 3, 5), request("/events", 4, 20), request("/a", 7, 8)],
        ]
        for exchanges in orders {
            #expect(exchanges.ordered(RecordingOptions()).map(\.url.last) == ["z", "s", "x", "y", "a"])
        }
        let sequence = (0..<3).map { request("/\(9 - $0)", 2 * $0, 2 * $0 + 1) }
        #expect(sequence.ordered(RecordingOptions()).map(\.url.last) == ["9", "8", "7"])
    }

    // MARK: - Names and files

    @Test("A recording without a name has the name of its test")
    func namedAsTest() async throws {
        let folder = TemporaryFolder()
        let path = folder.url("Tests.swift").path
        for mode in [Recording.Mode.record, .replay] {
            try await MockURLProtocol.withScope {
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                let recording = Recording(nil, from: server { _ in "[1]" }, filePath: path)
                let text = try await recording.run(mode, test: "`firstPage`()", at: "Tests.swift:1", warn: { _ in }) {
                    try await provider.text(.get, "/a")
                }
                #expect(text == "[1]")
            }
        }
        #expect(FileManager.default.fileExists(atPath: folder.url("Recordings/firstPage.har").path))
    }

    @Test("A file that is not beside its source is looked for in the test's bundle", arguments: ["Recordings", "", "Package_Tests.bundle"])
    func bundles(place: String) async throws {
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let bundle = TemporaryFolder()
        try FileManager.default.createDirectory(at: bundle.url(place), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: test.file, to: bundle.url("\(place)/session.har"))
        let url = bundle.url("")
        let recording = Recording("session", filePath: "/nowhere/Tests.swift", bundles: { [Bundle(url: url)].compactMap { $0 } })
        try await MockURLProtocol.withScope {
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let text = try await recording.run(.replay, test: "session()", at: "Tests.swift:1", warn: { _ in }) {
                try await provider.text(.get, "/a")
            }
            #expect(text == "[1]")
        }
        let missing = Recording("other", filePath: "/nowhere/Tests.swift", bundles: { [Bundle(url: url)].compactMap { $0 } })
        await #expect {
            try await MockURLProtocol.withScope { try await missing.run(.replay, test: "t()", at: "T.swift:1", warn: { _ in }) {} }
        } throws: { error in
            "\(error)".contains("There is no recording at /nowhere/Recordings/other.har, and none in the test's bundle. Make it: ")
        }
    }

    @Test("MOCK_NETWORK is record, or not set", arguments: ["verify", "recrod", "Record", "1"])
    func modes(text: String) throws {
        #expect(try Recording.Mode(environment: [:]) == .replay && Recording.Mode(environment: ["MOCK_NETWORK": "record"]) == .record)
        #expect {
            try Recording.Mode(environment: ["MOCK_NETWORK": text])
        } throws: { error in
            "\(error)" == "MOCK_NETWORK is \"\(text)\". Set it to record, or remove it to replay what was recorded."
        }
    }

    // MARK: - The attachment

    @Test(
        "The attached text of a failed test names each answer, and hides what its recording hides",
        arguments: [(Recording.Mode.record, "the server"), (.replay, "session.har: log.entries[0]")])
    func attachment(mode: Recording.Mode, answer: String) async throws {
        var test = test
        test.hidden = ["ssn"]
        let server = server { _ in "{}" }
        let body = #"{"ssn":"123-45-6789","n":1}"#
        try await test.run(.record, from: server) { _ = try await $0.text(.post, "/a", json: body) }
        let text = try await test.run(mode, from: server, hasFailed: true) { provider in
            MockURLProtocol.stub(.get, "/b", respond: .status(204))
            _ = try await provider.text(.post, "/a", json: body)
            _ = try await provider.text(.get, "/b?ssn=123-45-6789")
            return try #require(MockURLProtocol.requestsAsText)
        }
        #expect(text.contains("POST https://a.example/a\n{\"ssn\":\"…\",\"n\":1}\n→ \(answer)\n"), "\(text)")
        #expect(text.contains("GET https://a.example/b?ssn=…\n→ GET /b (") && !text.contains("6789"), "\(text)")
    }
}
