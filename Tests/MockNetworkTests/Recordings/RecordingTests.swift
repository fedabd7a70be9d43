import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import MockNetwork

@Suite("Recordings", tenMinutes)
struct RecordingTests {
    private let test = RecordedTest()

    private func text(_ path: String = "/a") -> @Sendable (DefaultAPIProvider) async throws -> String {
        { String(decoding: try await $0.request(anyRequest("https://a.example\(path)")).value.data, as: UTF8.self) }
    }

    private var recordedBytes: Data { get throws { try Data(contentsOf: test.file) } }

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
        #expect(try test.folder.names == ["Recordings"])
    }

    @Test("A missing recording fails before the test runs, with the line that makes it")
    func missing() async throws {
        let ran = Log<Int>()
        let error = await #expect(throws: (any Error).self) { try await test.run(.replay) { _ in ran.append(1) } }
        #expect(
            error?.localizedDescription
                == "There is no recording at \(test.file.path). Make it: MOCK_NETWORK=record swift test --filter session")
        #expect(ran.count == 0)
    }

    @Test("A test that fails leaves the old file as it is", arguments: ["throws", "fails", "has a stub that is never used"])
    func failed(how: String) async throws {
        try test.write("old")
        _ = try? await test.run(.record, from: answering(), hasFailed: how == "fails") { provider in
            _ = try await text()(provider)
            if how == "throws" { throw TestError() }
            if how == "has a stub that is never used" {
                MockURLProtocol.stub(.get, "/unused", respond: .status(200))
            }
        }
        #expect(try recordedBytes == Data("old".utf8))
    }

    @Test("Two recordings of one server are the same bytes, and an entry that changes keeps its place")
    func stable() async throws {
        let answers = Locked(["/a": "1", "/b": "1", "/c": "1"])
        let transport = ClosureTransport { request in
            let date = "\(Date().timeIntervalSince1970)"
            let body = Data("[\(answers.withLock { $0[request.url.path] } ?? "")]".utf8)
            return .just(APIResponse(to: request, headers: ["Content-Type": "application/json", "Date": date], data: body))
        }
        func record(_ paths: String...) async throws -> Data {
            try await test.run(.record, from: transport) { for path in paths { _ = try await text(path)($0) } }
            return try recordedBytes
        }
        let first = try await record("/a", "/b", "/c")
        #expect(try await record("/c", "/a", "/b") == first)
        answers.withLock { $0["/b"] = "2" }
        let second = try await record("/a", "/b", "/c")
        #expect(zip(HAR.slices(of: first), HAR.slices(of: second)).map(==) == [true, false, true])
        #expect(HAR.slices(of: try await record("/c", "/b")) == Array(HAR.slices(of: second).dropFirst()))
    }

    @Test("A recording with other options keeps nothing of the old one")
    func options() async throws {
        let transport = answering(headers: ["Content-Type": "application/json", "Set-Cookie": "a=pl4nted"]) { _ in Data("[1]".utf8) }
        let request = try anyRequest(.post, "https://a.example/", headers: ["X-Customer": "7"], body: Data(#"{"pin":"pl4nted"}"#.utf8))
        var test = test
        func record(_ redaction: Redaction, keeping names: [String]) async throws -> String {
            (test.redaction, test.names) = (redaction, names)
            try await test.run(.record, from: transport) { _ = try await $0.request(request).value }
            return try RecordedFile(test.file).text
        }
        #expect(try await record(.none, keeping: []).contains("pl4nted"))
        #expect(try await !record(.standard, keeping: []).contains("pl4nted"))
        #expect(try await record(.standard, keeping: ["X-Customer"]).contains(#""7""#))
    }

    @Test("An attempt that was retried is left out if a later one succeeded", arguments: [(1, [201]), (3, [503, 0, 503])])
    func retried(failures: Int, recorded: [Int]) async throws {
        let count = Locked(0)
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > failures { return .just(APIResponse(to: request, statusCode: 201)) }
            return number == 2 ? .error(URLError(.timedOut)) : .just(APIResponse(to: request, statusCode: 503))
        }
        try await test.run(.record, from: transport) { provider in
            for _ in 0..<max(2, failures) { _ = try? await provider.request(anyRequest("https://a.example/")).value }
        }
        let file = try RecordedFile(test.file)
        #expect(file.entries.indices.map { file.value("response.status", of: $0) as? Int } == recorded)
    }

    private struct Order: Encodable { let item: String, password: String, at: Int }

    @Test("A body is compared by its meaning, without secrets and without what is ignored")
    func bodies() async throws {
        let test = RecordedTest(ignored: ["AT"])
        @Sendable func send(_ order: Order, _ provider: DefaultAPIProvider) async throws -> String {
            try await provider.request(Endpoint<String>(.post, "/orders", body: .json(order))).value
        }
        let transport = answering(headers: ["Content-Type": "application/json"]) { (try? $0.body?.data()) ?? Data() }
        try await test.run(.record, from: transport) {
            _ = try await send(Order(item: "a", password: "x", at: 1), $0)
            _ = try await send(Order(item: "b", password: "x", at: 1), $0)
        }
        let answer = try await test.run(.replay) { try await send(Order(item: "b", password: "other", at: 2), $0) }
        #expect(answer.contains(#""item":"b""#))
        #expect(try #require(test.warnings.entries.first).contains("log.entries[0]"))
        let error = await #expect(throws: (any Error).self) {
            try await test.run(.replay) { try await send(Order(item: "c", password: "x", at: 1), $0) }
        }
        #expect("\(try #require(error))".contains("body    expected  item: \"a\""), "\(String(describing: error))")
        #expect("\(try #require(error))".contains("record it again: MOCK_NETWORK=record"), "\(String(describing: error))")
    }

    @Test("Other bodies are compared by their size, so a multipart upload replays")
    func upload() async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: "{\"count\": \(request.body.count)}") }
        try Data("file".utf8).write(to: test.folder.url("a.txt"))
        let parts = [
            MultipartPart(name: "b", value: "a"), MultipartPart(name: "c", file: test.folder.url("a.txt"), contentType: "text/plain"),
        ]
        let request = Endpoint<Data>(.post, .url(server.url), body: .multipart(parts))
        for bySession in [true, false] {
            let answer = try await test.run(.record, bySession: bySession) { try await $0.request(request).value }
            #expect(try await test.run(.replay, bySession: bySession) { try await $0.request(request).value } == answer)
        }
        #expect(server.requests.count == 2)
    }

    @Test("A redirect is an entry for each hop, and a download is recorded", arguments: [true, false])
    func redirect(bySession: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/old" else { return connection.respond(headers: ["Content-Type": "application/json"], body: "[1]") }
            connection.respond("302 Found", headers: ["Location": "/new?page=2&token=secret", "Set-Cookie": "a=b"])
        }
        let target = test.folder.url("download")
        let request = Endpoint(.get, .url(server.url, "/old"), downloadingTo: target)
        for mode in [Recording.Mode.record, .replay] {
            _ = try await test.run(mode, bySession: bySession) { try await $0.request(request).value }
            #expect(try String(contentsOf: target, encoding: .utf8) == "[1]")
            try FileManager.default.removeItem(at: target)
        }
        let file = try RecordedFile(test.file)
        #expect(file.entries.indices.map { file.value("response.status", of: $0) as? Int } == [302, 200])
        #expect(file.value("response.redirectURL") as? String == "/new?page=2&token=REDACTED")
        #expect(server.requests.map { $0.headers["cookie"] } == [nil, "a=b"])
    }

    @Test("Events replay in the pieces in which they came, in virtual time", arguments: [true, false])
    func events(bySession: Bool) async throws {
        let isRead = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: a\n\nda")
            isRead.wait()
            connection.send("ta: b\n\n")
        }
        let request = Endpoint<ServerSentEvents>(.get, .url(server.url))
        let recorded = try await test.run(.record, bySession: bySession) { provider in
            var recorded: [String] = []
            for try await event in try await provider.request(request).value {
                recorded.append(event.data)
                isRead.signal()
            }
            return recorded
        }
        #expect(recorded == ["a", "b"])
        let file = try RecordedFile(test.file)
        let times = try #require(file.value("response.content._times") as? [Int])
        #expect(times.count == 4 && times == times.sorted() && times[0] == times[1] && times[2] == times[3])

        // The events are made to come after five and after thirty seconds.
        let list = try #require(file.text.range(of: #""_times" : \[[^\]]*\]"#, options: .regularExpression))
        try test.write(file.text.replacingCharacters(in: list, with: #""_times" : [5000, 5000, 30000, 30000]"#))
        let scheduler = TestScheduler()
        try await test.run(.replay) { _ in
            let provider = DefaultAPIProvider(transport: MockTransport(scheduler: scheduler))
            var events = try await provider.request(request).value.makeAsyncIterator()
            scheduler.advance(by: .seconds(5))
            #expect(try await events.next()?.data == "a")
            scheduler.advance(by: .seconds(25))
            #expect(try await events.next()?.data == "b")
            #expect(try await events.next() == nil)
        }
    }

    @Test("A stream that breaks, or that its reader leaves, is recorded as far as it came", arguments: [true, false])
    func partOfAStream(isLeft: Bool) async throws {
        let isRead = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\ndata: a\n\n")
            isRead.wait()
        }
        let request = Endpoint<ServerSentEvents>(.get, .url(server.url))
        for mode in [Recording.Mode.record, .replay] {
            try await test.run(mode) { provider in
                var events = try await provider.request(request).value.makeAsyncIterator()
                #expect(try await events.next()?.data == "a")
                isRead.signal()
                if !isLeft { await #expect(throws: (any Error).self) { try await events.next() } }
            }
        }
        let file = try RecordedFile(test.file)
        #expect(file.value("response.content.text") as? String == "data: a\n\n")
        #expect((file.value("response._error") as? String)?.hasPrefix("URLError ") == (isLeft ? nil : true))
    }

    #if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
    @Test("A process that is killed while it writes leaves the old file", tenMinutes)
    func killed() async throws {
        let folder = test.folder.url.path
        for _ in 0..<rounds(1) {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
                let recordings = "\(folder)/Recordings"
                for number in 0... {
                    let transport = answering { _ in Data(repeating: UInt8(ascii: "0") + UInt8(number % 10), count: 5_000_000) }
                    if number == 2 {
                        Thread.detachNewThread {
                            let isWriting = { (try? FileManager.default.contentsOfDirectory(atPath: recordings))?.count == 2 }
                            while !isWriting() {}
                            kill(getpid(), SIGKILL)
                        }
                    }
                    let recording = Recording("session", redacting: .none, from: transport, filePath: "\(folder)/Tests.swift")
                    try await MockURLProtocol.withScope {
                        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                        try await recording.run(.record, test: "session", at: "", files: RecordingFiles(), warn: { _ in }) {
                            _ = try await provider.request(Endpoint<Data>(.get, "/")).value
                        }
                    }
                }
            }
            let text = try #require(try RecordedFile(test.file).value("response.content.text") as? String)
            #expect(text.utf8.count == 5_000_000 && Set(text.utf8).count == 1)
        }
    }
    #endif

    @Test("Verifying tells what a reader of the new responses would notice")
    func verify() async throws {
        let body = Locked(#"{"items": [{"a": 1, "owner": {"login": "x"}}, {"a": 2, "b": 1, "owner": {"login": "y"}}]}"#)
        let server = try LoopbackServer { request, connection in
            let type = request.target == "/html" && body.withLock { $0.contains("null") } ? "text/html" : "application/json"
            connection.respond(headers: ["Content-Type": type], body: body.withLock { $0 })
        }
        @Sendable func use(_ provider: DefaultAPIProvider) async throws {
            for path in ["items", "html"] { _ = try await provider.request(Endpoint<Data>(.get, .url(server.url, "/\(path: path)"))).value }
            _ = try await provider.request(Endpoint<Data>(.post, .url(server.url, "/items"))).value
        }
        try await test.run(.record, use)
        let old = try recordedBytes
        try await test.run(.verify, use)
        #expect(server.requests.map(\.method) == ["GET", "GET", "POST", "GET", "GET"])
        body.withLock { $0 = #"{"items": [{"owner": {"login": null}, "c": 1}]}"# }
        for (mode, isNew) in [(Recording.Mode.verify, false), (.verifyAll, true)] {
            let error = await #expect(throws: (any Error).self) { try await test.run(mode, use) }
            let sentence = error?.localizedDescription ?? ""
            #expect(sentence.contains("items[].a is gone") && sentence.contains("items[].owner.login is null, and was a string"))
            #expect(sentence.contains("the media type is text/html, and was application/json"))
            #expect(!sentence.contains("items[].b") && sentence.contains("items[].c is new") == isNew, "\(sentence)")
        }
        #expect(try recordedBytes == old)
    }

    @Test("The server is not asked with a credential that the recording left out")
    func verifyWithoutCredential() async throws {
        let request = Endpoint<Data>(.get, "/me", headers: ["Authorization": "Bearer REDACTED"])
        try await test.run(.record, from: answering()) { _ = try await $0.request(request).value }
        let asked = Log<PreparedRequest>()
        let server = ClosureTransport { request in
            asked.append(request)
            return .just(APIResponse(to: request, statusCode: 401))
        }
        try await test.run(.verify, from: server) { _ = try await $0.request(request).value }
        #expect(asked.count == 0)
        #expect(try #require(test.warnings.entries.last).contains("The server was not asked"))
    }

    @Test("Fifty recordings at once each have their own requests")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let test = RecordedTest()
                    let transport = answering(headers: ["Content-Type": "application/json"]) { _ in Data("[\(number)]".utf8) }
                    for mode in [Recording.Mode.record, .replay] {
                        let value = try await test.run(mode, from: transport, bySession: number % 10 == 0) {
                            try await $0.request(Endpoint<[Int]>(.get, "/a")).value
                        }
                        #expect(value == [number])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Two tests that name one file fail, with both names")
    func twice() async throws {
        let (files, recording) = (RecordingFiles(), Recording("session", from: answering(), filePath: test.folder.url("Tests.swift").path))
        func run(_ name: String, _ mode: Recording.Mode) async throws {
            try await MockURLProtocol.withScope {
                let provider = DefaultAPIProvider(transport: MockTransport())
                try await recording.run(mode, test: name, at: "A.swift:1", files: files, warn: { _ in }) {
                    _ = try await provider.request(anyRequest("https://a.example/")).value
                }
            }
        }
        try await run("one", .record)
        for _ in 0..<2 { try await run("one", .replay) }
        for (name, sentence) in [
            ("two", "one (A.swift:1) and two (A.swift:1) both name it"), ("one", "one (A.swift:1) names it more than once"),
        ] {
            let error = await #expect(throws: (any Error).self) { try await run(name, .record) }
            #expect(error?.localizedDescription.contains(sentence) == true)
        }
    }

    @Test("A test whose requests do not reach the mock fails", arguments: [Recording.Mode.record, .replay])
    func unreached(mode: Recording.Mode) async throws {
        try test.write(#"{"log":{"entries":[]}}"#)
        let error = await #expect(throws: (any Error).self) { try await test.run(mode) { _ in } }
        #expect(error?.localizedDescription.contains("no request has reached this mock") == true)
    }

    @Test(
        "A body answers one that differs in secrets alone",
        arguments: [
            ("application/json", #"{"id":"x","pin":4711,"note":"a1b2c3d4e5"}"#, #"{"id":"x","pin":"0","note":"other"}"#, true),
            ("application/json", #"{"id":"x","pin":4711}"#, #"{"id":"y","pin":4711}"#, false),
            ("application/x-www-form-urlencoded", "a=1&token=x&é=2", "é=2&token=y&a=1", true),
            ("application/x-www-form-urlencoded", "a=1&a=2", "a=2&a=1", false),
            ("text/xml", "<id>1</id>", "<id>2</id>", true), ("text/xml", "<id>1</id>", "<id>12</id>", false),
            ("text/csv", "1,2", "1,2", true), ("text/csv", "1,2", "1,3", false),
        ])
    func secretsInBodies(type: String, recorded: String, sent: String, isMatch: Bool) async throws {
        // The other types are compared by their size.
        let test = RecordedTest(names: ["text/csv"])
        @Sendable func send(_ body: String, _ provider: DefaultAPIProvider) async throws {
            _ = try await provider.request(anyRequest(.post, "https://a.example/", headers: ["Content-Type": type], body: Data(body.utf8)))
                .value
        }
        try await test.run(.record, from: answering()) { try await send(recorded, $0) }
        let isAnswered = (try? await test.run(.replay) { try await send(sent, $0) }) != nil
        #expect(isAnswered == isMatch)
    }

    @Test("What is not recorded is a warning, and the body of an error is then empty")
    func omissions() async throws {
        let producer = Producer<APIResponse>()
        let transport = ClosureTransport { request in
            guard request.url.path != "/slow" else { return producer.single }
            return .just(APIResponse(to: request, statusCode: 404, headers: ["Content-Type": "text/html"], data: Data("<p>".utf8)))
        }
        let request = Endpoint<APIResponse>(.get, "/missing") { $0 }.validating { _ in }
        try await test.run(.record, from: transport) { provider in
            _ = try await provider.request(request).value
            let slow = provider.request(Endpoint<Data>(.get, "/slow")).subscribe { _ in }
            while producer.subscriptions == 0 { await Task.yield() }
            withExtendedLifetime(slow) {}
        }
        let warning = try #require(test.warnings.entries.first)
        #expect(warning.contains("GET /slow: there was no response yet") && warning.contains("/missing: the recording left out its body"))
        let response = try await test.run(.replay) { try await $0.request(request).value }
        #expect(response.statusCode == 404 && response.data.isEmpty)
    }

    @Test("The environment's mode is one of four", arguments: [("", true), ("record", true), ("verify-all", true), ("recrod", false)])
    func mode(text: String, isValid: Bool) {
        #expect(((try? Recording.Mode(environment: ["MOCK_NETWORK": text])) != nil) == isValid)
    }

    @Test("withRecording answers from the file beside the test, and runs on its actor")
    @MainActor func isolation() async throws {
        let missing = await #expect(throws: (any Error).self) {
            try await MockURLProtocol.withRecording("missing", filePath: test.folder.url("Tests.swift").path) {}
        }
        #expect(missing?.localizedDescription.hasSuffix("Make it: MOCK_NETWORK=record swift test --filter isolation") == true)
        try test.write(#"{"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/"},"response":{"status":201}}]}}"#)
        let status = try await MockURLProtocol.withRecording("session", filePath: test.folder.url("Tests.swift").path) {
            MainActor.assertIsolated()
            return try await DefaultAPIProvider(transport: MockTransport()).request(anyRequest("https://a.example/")).value.statusCode
        }
        #expect(status == 201)
    }

    @Test("An entry has every field that HAR 1.2 requires")
    func required() async throws {
        // http://www.softwareishard.com/blog/har-12-spec/
        let required = [
            "": ["startedDateTime", "time", "request", "response", "cache", "timings"],
            "request": ["method", "url", "httpVersion", "cookies", "headers", "queryString", "postData", "headersSize", "bodySize"],
            "response": ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"],
            "request.postData": ["mimeType", "text"], "response.content": ["size", "mimeType"], "timings": ["send", "wait", "receive"],
        ]
        for transport in [answering(), ClosureTransport { _ in .error(URLError(.timedOut)) }] {
            try await test.run(.record, from: transport) {
                _ = try? await $0.request(anyRequest(.post, "https://a.example", body: Data("x".utf8))).value
            }
            let recorded = try RecordedFile(test.file)
            for (path, names) in required {
                let object = try #require(recorded.value(path) as? [String: Any])
                #expect(names.filter { object[$0] == nil }.isEmpty)
            }
            #expect((recorded.log["creator"] as? [String: String])?.keys.sorted() == ["comment", "name", "version"])
        }
    }

    @Test("A failure has the status 0, and is replayed", arguments: [URLError.Code.timedOut, .cannotFindHost, .notConnectedToInternet])
    func failure(code: URLError.Code) async throws {
        for (mode, error) in [(Recording.Mode.record, URLError(code)), (.replay, URLError(.unknown))] {
            try await test.run(mode, from: ClosureTransport { _ in .error(error) }) { provider in
                let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<Data>(.get, "/")).value }
                #expect(error?.urlError?.code == code)
            }
        }
        #expect(try RecordedFile(test.file).value("response._error") as? String == "URLError \(code.rawValue)")
    }

    @Test("A disposed request is not recorded, and the live one is disposed")
    func disposed() async throws {
        let disposed = Signals<Int>()
        let producer = Producer<APIResponse> { Disposables.create { disposed.send(1) } }
        try await test.run(.record, from: ClosureTransport { _ in producer.single }) { provider in
            let subscription = provider.request(Endpoint<Data>(.get, "/")).subscribe { _ in }
            while producer.subscriptions == 0 { await Task.yield() }
            subscription.dispose()
            await disposed.next()
        }
        #expect(try RecordedFile(test.file).entries.isEmpty)
    }

    /// By their names, because the test library takes long with a large argument.
    private static let samples = [
        "none": Data(), "text": Data("plain".utf8), "emoji": Data("Grüße 🌍\u{0}\u{1F468}\u{200D}\u{1F469}".utf8),
        "a BOM": Data("\u{FEFF}text".utf8), "JSON": Data("{\"a\" : 1.50,\r\n\"b\":[ ] }\n".utf8), "escapes": Data("\\\"\u{2028}".utf8),
        "much JSON": Data(String(repeating: "{\"name\": \"0123456789\"},\n", count: 10_000).utf8),
        "no UTF-8": Data([0xFF, 0xFE, 0x00, 0x80]), "much data": Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }),
    ]

    @Test("A replayed body has the recorded bytes", arguments: samples.keys.sorted())
    func bytes(name: String) async throws {
        let body = try #require(Self.samples[name])
        let test = RecordedTest(redaction: .none)
        let request = try anyRequest(.post, "https://a.example", body: body)
        for mode in [Recording.Mode.record, .replay] {
            #expect(try await test.run(mode, from: answering { _ in body }) { try await $0.request(request).value.data } == body)
        }
    }
}
