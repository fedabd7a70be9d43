import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import MockServer
import Testing

private let origin = "https://api.github.com"

@Suite struct ServerTests {
    // MARK: - Stubs

    @Test("A stub answers on the port, and the test sees the request") func aStubAnswersOnThePortAndThe() async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.post, "https://api.github.com/orders", body: .json(["item": 1]), respond: .json(["id": 7], statusCode: 201))
            let response = try await Client(url: server.url).send(
                "POST", "/orders?a=b%20c", headers: ["X-Trace": "t"], body: Data(#"{ "item": 1 }"#.utf8))
            #expect(response.status == 201)
            #expect(response.text == #"{"id":7}"#)
            let request = try #require(server.mock.requests.last)
            #expect(request.url.absoluteString == "https://api.github.com/orders?a=b%20c")
            #expect(request.headers["X-Trace"] == "t")
            #expect(request.headers["Host"] == nil)
            #expect(try request.json([String: Int].self) == ["item": 1])
        }
    }

    @Test("Each server has a scope of its own") func eachServerHasAScopeOfItsOwn() async throws {
        try await MockServer.run(for: origin) { first in
            try await MockServer.run(for: origin) { second in
                first.mock.stub(.get, "/user", respond: .json(["login": "first"]))
                second.mock.stub(.get, "/user", respond: .json(["login": "second"]))
                let texts = [try await Client(url: first.url).get("/user").text, try await Client(url: second.url).get("/user").text]
                #expect(texts == [#"{"login":"first"}"#, #"{"login":"second"}"#])
                #expect(first.mock.requests.count == 1)
            }
        }
    }

    @Test("A request without an answer is a 501 with the report, which run throws, too") func aRequestWithoutAnAnswerIsA501() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await MockServer.run(for: origin) { server in
                server.mock.stub(.get, "/users", isOptional: true, respond: .status(200))
                let response = try await Client(url: server.url).get("/user?api_key=s3cr3tK3yValue")
                #expect(response.status == 501)
                #expect(response.headers["Content-Type"] == "text/plain; charset=utf-8")
                #expect(response.text.contains("GET /users"))
                #expect(response.text.contains("POST /__mock/stubs"))
                #expect(!response.text.contains("s3cr3tK3yValue"))
            }
        }
        #expect("\(try #require(error))".contains("GET https://api.github.com/user"))
    }

    @Test("Cookies of one client are not sent by another") func cookiesOfOneClientAreNotSentBy() async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.get, "/login", respond: .status(200, headers: ["Set-Cookie": "sid=1; Path=/"]))
            _ = try await Client(url: server.url).get("/login")
            _ = try await Client(url: server.url).get("/login")
            #expect(server.mock.requests.map { $0.headers["Cookie"] } == [nil, nil])
        }
    }

    @Test("Events come one by one, as the test sends them") func eventsComeOneByOneAsTheTest() async throws {
        try await MockServer.run(for: origin) { server in
            let feed = StreamFeed()
            server.mock.stub(.get, "/events", respond: .events(from: feed))
            let provider = DefaultAPIProvider(baseURL: server.url)
            let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value
            var iterator = events.makeAsyncIterator()
            for text in ["a", "b"] {
                feed.send(ServerSentEvent(data: text))
                let event = try await iterator.next()
                #expect(event?.data == text)
            }
            feed.finish()
            let end = try await iterator.next()
            #expect(end == nil)
        }
    }

    /// Swift compares characters, and a mark beside a slash makes both one character.
    @Test("Paths are compared by bytes, also beside combining marks", arguments: ["\u{301}", "\u{FE0F}", "\u{200D}", "\u{600}"])
    func pathsAreComparedByBytes(mark: String) async throws {
        let escaped = mark.utf8.map { "%" + String($0, radix: 16) }.joined()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("a\(mark)"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["user.json", "\(mark)file.json", "a\(mark)/\(mark)b.json"] {
            try Data("\"\(name)\"".utf8).write(to: folder.appendingPathComponent(name))
        }
        var options = MockServer.Options()
        options.fixtures = try FixtureFolder(folder)
        try await MockServer.run(for: origin, options: options) { server in
            let client = Client(url: server.url)
            for name in ["\(mark)file", "a\(mark)/\(mark)b"] {
                let response = try await client.get("/\(name.replacingOccurrences(of: mark, with: escaped, options: .literal))")
                #expect(response.status == 200 && response.text.utf8.elementsEqual("\"\(name).json\"".utf8), "\(response)")
            }
            let headers = ["Content-Type": "application/json"]
            let stub = Data(#"{"path": "/\#(mark)stub", "response": {"text": "é"}}"#.utf8)
            let added = try await client.send("POST", "/__mock/stubs", headers: headers, body: stub)
            let text = try await client.get("/\(escaped)stub").text
            #expect(added.status == 201 && text == "é")
            let found = try await client.get("/__mock/requests?path=/\(escaped)stub").text
            let others = try await client.get("/__mock/requests?path=/stub").text
            #expect(found.contains("stub") && others.contains("[]"))
            for path in ["/\(escaped)user", "//\(escaped)file"] {
                let response = try await client.get(path)
                #expect(response.status == 501, "\(response)")
            }
            server.mock.reset()
        }
    }

    @Test(
        "Requests to the two normal forms of a path are two paths", arguments: [("caf%C3%A9", "cafe%CC%81"), ("cafe%CC%81", "caf%C3%A9")])
    func normalForms(one: String, other: String) async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.get, "/*", respond: .status(200, headers: ["Set-Cookie": "a=b\u{600}; Domain=api.github.com; Secure"]))
            let client = Client(url: server.url)
            let cookie = try await client.get("/\(one)").headers["Set-Cookie"] ?? ""
            #expect(cookie.hasPrefix("a=b") && !cookie.contains("Domain") && !cookie.contains("Secure"), "\(cookie)")
            let found = try await client.get("/__mock/requests?path=/\(one)").text
            let others = try await client.get("/__mock/requests?path=/\(other)").text
            #expect(found.contains("GET") && others.contains("[]"))
        }
    }

    @Test("A failure of a stub ends the connection without an answer") func aFailureOfAStubEndsTheConnection() async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.get, "/user", respond: .failure(URLError(.notConnectedToInternet)))
            await #expect(throws: URLError.self) { try await Client(url: server.url).get("/user") }
        }
    }

    // MARK: - The origin

    @Test("Location and Link to the served origin lead to the port, and others stay") func locationAndLinkToTheServedOriginLead()
        async throws
    {
        try await MockServer.run(for: "https://api.github.com/") { server in
            server.mock.stub(
                .get, "/old",
                respond: .status(
                    302,
                    headers: [
                        "Location": "https://api.github.com/new?back=https://api.github.com",
                        "Link": "<HTTPS://api.github.com/p?page=2>; rel=\"next\", <https://api.github.com.example.com/>; rel=\"x\"",
                    ]))
            let response = try await Client(url: server.url).get("/old")
            let url = server.url.absoluteString
            #expect(response.status == 302)
            #expect(response.headers["Location"] == "\(url)/new?back=\(url)")
            #expect(response.headers["Link"] == "<\(url)/p?page=2>; rel=\"next\", <https://api.github.com.example.com/>; rel=\"x\"")
        }
    }

    @Test("Text in bodies is replaced only if that is asked for", arguments: [false, true]) func textInBodiesIsReplacedOnlyIfThat(
        replaces: Bool
    ) async throws {
        var options = MockServer.Options()
        options.replacesOrigin = replaces
        try await MockServer.run(for: origin, options: options) { server in
            // Some servers escape the slashes of JSON.
            let json = #"["https://api.github.com/users/x", "https:\/\/API.github.com\/x", "https://api.github.com.example.com"]"#
            server.mock.stub(.get, "/user", respond: .json(text: json))
            let text = try await Client(url: server.url).get("/user").text
            let url = server.url.absoluteString
            let escaped = url.replacingOccurrences(of: "/", with: #"\/"#)
            let replaced = #"["\#(url)/users/x", "\#(escaped)\/x", "https://api.github.com.example.com"]"#
            #expect(text == (replaces ? replaced : json))
            // Spreadsheets need the byte order mark of their files.
            server.mock.stub(.get, "/csv", respond: .data(Data("\u{FEFF}a,b".utf8), headers: ["Content-Type": "text/csv"]))
            #expect(try await Client(url: server.url).get("/csv").text.utf8.elementsEqual("\u{FEFF}a,b".utf8))
        }
    }

    @Test(arguments: ["api.github.com", "ftp://api.github.com", "https://", "https://api.github.com/v3", "https://u@api.github.com", ""])
    func `What is no origin is an error that says so`(text: String) async {
        let error = await #expect(throws: (any Error).self) { try await MockServer.run(for: text) { _ in } }
        #expect(error.map { "\($0)" }?.contains("is no origin") == true)
    }

    // MARK: - Starting and stopping

    @Test("A started server answers until it is stopped") func aStartedServerAnswersUntilItIsStopped() async throws {
        let server = try await MockServer.start(for: origin)
        server.mock.stub(.get, "/user", respond: .status(204))
        let response = try await Client(url: server.url).get("/user")
        #expect(response.status == 204)
        try server.mock.verify()
        await server.stop()
        await #expect(throws: URLError.self) { try await Client(url: server.url).get("/user") }
    }

    @Test("A test that fails stops its server, and its error is thrown") func aTestThatFailsStopsItsServerAnd() async throws {
        struct Failure: Error {}
        let urls = AsyncStream.makeStream(of: URL.self)
        await #expect(throws: Failure.self) {
            try await MockServer.run(for: origin) { server in
                urls.continuation.yield(server.url)
                throw Failure()
            }
        }
        var iterator = urls.stream.makeAsyncIterator()
        let url = try #require(await iterator.next())
        await #expect(throws: URLError.self) { try await Client(url: url).get("/user") }
    }

    @Test("A taken port is an error that says so, at once") func aTakenPortIsAnErrorThatSays() async throws {
        try await MockServer.run(for: origin) { server in
            var options = MockServer.Options()
            options.port = UInt16(try #require(server.url.port))
            let error = await #expect(throws: (any Error).self) { try await MockServer.start(for: origin, options: options) }
            #expect(error.map { "\($0)" }?.contains("another program uses this port") == true)
        }
    }

    /// A port below those that the system gives to others.
    @Test("A start that is cancelled leaves the port free") func aStartThatIsCancelledLeavesThePort() async throws {
        var options = MockServer.Options()
        repeat { options.port = .random(in: 20_000..<30_000) } while await !isFree(options)
        var cancelled = 0
        for round in 0..<200 {
            let start = Task { [options] in try await MockServer.start(for: origin, options: options) }
            for _ in 0..<round % 20 { await Task.yield() }
            start.cancel()
            do { try await start.value.stop() } catch is CancellationError { cancelled += 1 }
            let isFree = await isFree(options)
            #expect(isFree)
        }
        #expect(cancelled > 0)
    }

    private func isFree(_ options: MockServer.Options) async -> Bool {
        do { try await MockServer.start(for: origin, options: options).stop() } catch { return false }
        return true
    }

    @Test("A stop ends a request in progress") func aStopEndsARequestInProgress() async throws {
        let server = try await MockServer.start(for: origin)
        server.mock.stub(.get, "/slow", respond: .never)
        let url = server.url
        let request = Task { try await Client(url: url).get("/slow") }
        while server.mock.requests.isEmpty { await Task.yield() }
        await server.stop()
        await #expect(throws: URLError.self) { try await request.value }
    }

    @Test("A hundred requests at once are answered") func aHundredRequestsAtOnceAreAnswered() async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.get, "/items/*", respond: .handler { .data(Data($0.path.utf8)) })
            let client = Client(url: server.url)
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<100 { group.addTask { try await client.get("/items/\(index)").text } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(texts == Set((0..<100).map { "/items/\($0)" }))
        }
    }

    @Test("The newest thousand requests are kept") func theNewestThousandRequestsAreKept() async throws {
        try await MockServer.run(for: origin) { server in
            server.mock.stub(.get, "/items/*", respond: .status(204))
            let provider = DefaultAPIProvider(baseURL: server.url)
            for index in 0..<1_003 {
                _ = try await provider.request(Endpoint<Data>(.get, "/items/\(index)")).value
            }
            #expect(server.mock.requests.count == 1_000)
            #expect(server.mock.requests.first?.path == "/items/3")
        }
    }
}
