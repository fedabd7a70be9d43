import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

@Suite("Recordings", tenMinutes)
struct RecordingTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url("session.har") }

    private func provider(_ transport: any Transport, redacting redaction: Redaction = .standard) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [RecordingMiddleware(to: file, redacting: redaction)])
    }

    @Test("A response is in the file before its subscriber gets it, and the file is valid after each request")
    func inFile() async throws {
        let provider = provider(answering { Data("[\"\($0.url.path)\"]".utf8) })
        for count in 1...5 {
            _ = try await provider.request(anyRequest("https://a.example/\(count)")).value
            let recorded = try RecordedFile(file)
            #expect(recorded.entries.count == count)
            #expect(recorded.value("response.content.text", of: count - 1) as? String == "[\"/\(count)\"]")
        }
        #expect(try folder.names == ["session.har"])
    }

    @Test(
        "Every field that HAR 1.2 requires is there",
        arguments: [
            // http://www.softwareishard.com/blog/har-12-spec/
            ("", ["startedDateTime", "time", "request", "response", "cache", "timings"]),
            (
                "request",
                ["method", "url", "httpVersion", "cookies", "headers", "queryString", "postData", "headersSize", "bodySize"]
            ),
            (
                "response",
                ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"]
            ),
            ("request.postData", ["mimeType", "text"]),
            ("response.content", ["size", "mimeType"]),
            ("timings", ["send", "wait", "receive"]),
        ])
    func required(path: String, names: [String]) async throws {
        let failing = ClosureTransport { _ in .error(URLError(.timedOut)) }
        for transport in [answering(), failing] as [any Transport] {
            _ = try? await provider(transport).request(anyRequest(.post, "https://a.example", body: Data("x".utf8))).value
            let recorded = try RecordedFile(file)
            let object = try #require(recorded.value(path) as? [String: Any])
            #expect(names.filter { object[$0] == nil }.isEmpty)
            #expect(recorded.log["version"] as? String == "1.2")
            #expect((recorded.log["creator"] as? [String: String])?.keys.sorted() == ["name", "version"])
        }
    }

    @Test("An entry has the request, the response and the time")
    func entry() async throws {
        let transport = answering(
            status: 404, headers: ["Content-Type": "text/plain", "Set-Cookie": "a=1; Expires=Wed, 09 Jun 2032 10:18:14 GMT, b=2"]
        ) { _ in Data("Nöne 🌍".utf8) }
        let before = Date()
        _ = try await provider(transport, redacting: .none).request(
            anyRequest(
                "PUT", "https://a.example/b%20c?d=e%26f&g#h", headers: ["Cookie": "x=1; y=2", "Content-Type": "text/csv"],
                body: Data("1,2".utf8))
        ).value
        let recorded = try RecordedFile(file)
        #expect(recorded.value("request.method") as? String == "PUT")
        #expect(recorded.value("request.url") as? String == "https://a.example/b%20c?d=e%26f&g")
        #expect(recorded.value("request.queryString") as? Fields == [["name": "d", "value": "e&f"], ["name": "g", "value": ""]])
        #expect(recorded.value("request.cookies") as? Fields == [["name": "x", "value": "1"], ["name": "y", "value": "2"]])
        #expect(recorded.value("request.postData") as? [String: String] == ["mimeType": "text/csv", "text": "1,2"])
        #expect(recorded.value("response.status") as? Int == 404)
        #expect(recorded.value("response.statusText") as? String == "Not Found")
        #expect(recorded.value("response.cookies") as? Fields == [["name": "a", "value": "1"], ["name": "b", "value": "2"]])
        #expect(recorded.value("response.content.text") as? String == "Nöne 🌍")
        #expect(recorded.value("response.content.size") as? Int == 10)
        let text = try #require(recorded.value("startedDateTime") as? String)
        #expect(text.range(of: #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"#, options: .regularExpression) != nil)
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let date = try #require(formatter.date(from: text))
        #expect(abs(date.timeIntervalSince(before)) < 60)
        #expect(recorded.value("time") as? Double == recorded.value("timings.wait") as? Double)
    }

    @Test("Entries are in the order in which the requests began")
    func order() async throws {
        let (first, second) = (Producer<APIResponse>(), Producer<APIResponse>())
        let provider = provider(ClosureTransport { $0.url.path == "/1" ? first.single : second.single })
        let (one, two) = (try anyRequest("https://a.example/1"), try anyRequest("https://a.example/2"))
        let subscriptions = [provider.request(one), provider.request(two)].map { $0.subscribe { _ in } }
        for (producer, request) in [(second, two), (first, one)] {
            producer.send(.success(try await answering().send(request.preparedRequest()).value))
        }
        let recorded = try RecordedFile(file)
        #expect(recorded.value("request.url", of: 0) as? String == "https://a.example/1")
        #expect(recorded.value("request.url", of: 1) as? String == "https://a.example/2")
        subscriptions.forEach { $0.dispose() }
    }

    @Test("A failure has the status 0, and is replayed", arguments: [URLError.Code.timedOut, .cannotFindHost, .notConnectedToInternet])
    func failure(code: URLError.Code) async throws {
        let request = try anyRequest("https://a.example")
        _ = try? await provider(ClosureTransport { _ in .error(URLError(code)) }).request(request).value
        #expect(try RecordedFile(file).value("response.status") as? Int == 0)
        #expect(try RecordedFile(file).value("response._error") as? String == "URLError \(code.rawValue)")
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(har: file)
            let error = await #expect(throws: APIError.self) {
                try await DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration).request(request).value
            }
            #expect(error?.urlError?.code == code)
        }
    }

    @Test("An app's own error is recorded by its type alone, and reaches the caller unchanged")
    func ownError() async throws {
        let provider = provider(ClosureTransport { _ in .error(TestError("planted")) })
        await #expect(throws: TestError("planted")) { try await provider.request(anyRequest("https://a.example")).value }
        #expect(try RecordedFile(file).value("response._error") as? String == "TestError")
        #expect(try !RecordedFile(file).text.contains("planted"))
    }

    @Test("A disposed request is not recorded")
    func disposed() throws {
        let producer = Producer<APIResponse>()
        provider(ClosureTransport { _ in producer.single }).request(try anyRequest("https://a.example")).subscribe { _ in }.dispose()
        #expect(producer.subscriptions == 1)
        producer.send(.failure(TestError()))
        #expect(try folder.names.isEmpty)
    }

    @Test("The first request replaces an existing file")
    func begunAnew() async throws {
        try Data("old".utf8).write(to: file)
        let provider = provider(answering())
        #expect(try String(contentsOf: file, encoding: .utf8) == "old")
        _ = try await provider.request(anyRequest("https://a.example")).value
        #expect(try RecordedFile(file).entries.count == 1)
    }

    @Test("Only its owner can read a new file, and an old file keeps its mode")
    func mode() async throws {
        for mode in [0o600, 0o644] as [mode_t] {
            _ = try await provider(answering()).request(anyRequest("https://a.example/")).value
            var status = stat()
            #expect(lstat(file.path, &status) == 0)
            #expect(status.st_mode & 0o777 == mode)
            #expect(chmod(file.path, 0o644) == 0)
        }
    }

    @Test("A file that cannot be written fails no request, and is reported once")
    func unwritable() async throws {
        let errors = Log<any Error>()
        let recording = RecordingMiddleware(to: folder.url("none/session.har"), onFailure: errors.append)
        let provider = DefaultAPIProvider(baseURL: example, transport: answering(), middlewares: [recording])
        for _ in 0..<2 { #expect(try await provider.request(anyRequest("https://a.example")).value.statusCode == 200) }
        #expect(try folder.names.isEmpty)
        #expect(errors.count == 1)
    }

    #if os(Linux)
    @Test("If a system call fails, the file is whole or missing, no request fails, and the next request repairs the file")
    func faults() async throws {
        var reports: [String] = []
        let calls = try await Faults.inTurn { faults in
            let folder = TemporaryFolder()
            let file = folder.url("session.har")
            let errors = Log<any Error>()
            let recording = RecordingMiddleware(to: file, onFailure: errors.append)
            let provider = DefaultAPIProvider(baseURL: example, transport: answering(), middlewares: [recording])
            func statusCode() async throws -> Int { try await provider.request(anyRequest("https://a.example")).value.statusCode }
            let (statusCodes, open) = try await FaultyFiles.within(folder.url, faults) { try await [statusCode(), statusCode()] }
            #expect(statusCodes == [200, 200])
            #expect(open == 0)
            let names = try folder.names
            #expect(names.isEmpty || names == ["session.har"])
            if !names.isEmpty { #expect(try 1...2 ~= RecordedFile(file).entries.count) }
            #expect(try await statusCode() == 200)
            #expect(try RecordedFile(file).entries.count == 3)
            #expect(errors.count <= (faults.hasFailed ? 1 : 0))
            reports.append(contentsOf: errors.entries.map(\.localizedDescription))
        }
        #expect(Set(reports).count >= 4)
        // For each of two requests: open, write, fsync, rename and close; fchmod for the mode of the old file.
        #expect(calls >= 11)
    }
    #endif

    @Test("A comment says that a body in a file is not recorded")
    func elsewhere() async throws {
        let server = try LoopbackServer { $1.respond(body: "a file") }
        let recording = [RecordingMiddleware(to: file)]
        let download = folder.url("download")
        _ = try await DefaultAPIProvider(baseURL: example, configuration: .ephemeral, middlewares: recording)
            .request(Endpoint(.get, .url(server.url), downloadingTo: download)).value
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/empty", respond: .data(Data(), headers: ["Content-Length": "0"]))
            try await DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: recording)
                .request(Endpoint<Void>(.get, "/empty")).value
        }
        #expect(try String(contentsOf: download, encoding: .utf8) == "a file")
        let recorded = try RecordedFile(file)
        #expect(recorded.value("comment") as? String == "No body arrived here; a download, for example, writes it to a file.")
        #expect(recorded.value("response.content.text") as? String == "")
        #expect(recorded.value("comment", of: 1) == nil && recorded.value("request.bodySize", of: 1) as? Int == 0)
    }

    @Test(
        "The comment about a missing body is only in accepted responses that must have one",
        arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 205), (.get, 404)])
    func noBody(method: HTTPMethod, status: Int) async throws {
        let transport = ClosureTransport { .just(APIResponse(to: $0, status: status, headers: ["Content-Length": "5"])) }
        _ = try? await provider(transport).request(Endpoint<Void>(method, "")).value
        #expect(try RecordedFile(file).value("comment") == nil)
    }

    /// By their names, because the test library takes long with a large argument.
    private static let samples = [
        "none": Data(), "text": Data("plain".utf8), "emoji": Data("Grüße 🌍\u{0}\u{1F468}\u{200D}\u{1F469}".utf8),
        "a BOM": Data("\u{FEFF}text".utf8), "JSON": Data("{\"a\" : 1.50,\r\n\"b\":[ ] }\n".utf8), "escapes": Data("\\\"\u{2028}".utf8),
        "much JSON": Data(String(repeating: "{\"name\": \"0123456789\"},\n", count: 10_000).utf8),
        "no UTF-8": Data([0xFF, 0xFE, 0x00, 0x80]), "much data": Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }),
    ]

    @Test("A replayed body has the recorded bytes", arguments: samples.keys.sorted())
    func bodies(name: String) async throws {
        let body = try #require(Self.samples[name])
        let request = try anyRequest(.post, "https://a.example", body: body)
        _ = try await provider(answering { _ in body }, redacting: .none).request(request).value
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(har: file)
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            #expect(try await provider.request(request).value.data == body)
        }
        struct File: Decodable {
            struct Log: Decodable { let entries: [Entry] }
            struct Entry: Decodable { let request: Request }
            struct Request: Decodable { let postData: PostData }
            struct PostData: Decodable { let text: String, _encoding: String? }
            let log: Log
        }
        let sent = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).log.entries[0].request.postData
        #expect((sent._encoding == "base64" ? Data(base64Encoded: sent.text) : Data(sent.text.utf8)) == body)
        #expect(sent._encoding == nil || ["a BOM", "no UTF-8", "much data"].contains(name))
    }

    @Test("Two recordings at once each have their own hundred requests")
    func parallel() async throws {
        let files = [file, folder.url("other.har")]
        let providers = files.map {
            DefaultAPIProvider(
                baseURL: example, transport: answering { Data("[\"\($0.url.path)\"]".utf8) },
                middlewares: [RecordingMiddleware(to: $0)])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (provider, file) in zip(providers, files) {
                for number in 0..<100 {
                    group.addTask {
                        _ = try await provider.request(anyRequest("https://a.example/\(number)")).value
                        #expect(try RecordedFile(file).text.contains("\"text\" : \"[\\\"/\(number)\\\"]\""))
                    }
                }
            }
            try await group.waitForAll()
        }
        for file in files {
            let recorded = try RecordedFile(file)
            #expect(Set(recorded.entries.indices.map { recorded.value("request.url", of: $0) as? String }).count == 100)
            #expect(recorded.entries.count == 100)
        }
        #expect(try folder.names == ["other.har", "session.har"])
    }
}
