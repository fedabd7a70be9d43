import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("Stubs of streams", tenMinutes, .mockNetwork)
struct StreamStubTests {

    enum Door: CaseIterable {
        case urlProtocol, transport

        /// On Apple's systems, a session may drop data that arrived before an error.
        var keepsChunks: Bool {
            #if canImport(FoundationNetworking)
            true
            #else
            self == .transport
            #endif
        }
    }

    private func provider(_ door: Door) -> DefaultAPIProvider {
        switch door {
        case .urlProtocol: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
        case .transport: DefaultAPIProvider(baseURL: example, transport: MockTransport())
        }
    }

    @Test("Events and JSON lines come one by one", arguments: Door.allCases)
    func eventsAndLines(_ door: Door) async throws {
        let sent = [ServerSentEvent(data: "a\nb"), ServerSentEvent(type: "add", data: "c", lastEventID: "7")]
        MockURLProtocol.stub(.get, "/events", respond: .events(sent, every: 0.001))
        MockURLProtocol.stub(.get, "/rows", respond: .jsonLines([["a": 1], ["a": 2]]))

        var received: [ServerSentEvent] = []
        for try await event in try await provider(door).request(Endpoint<ServerSentEvents>(.get, "/events")).value {
            received.append(event)
        }
        #expect(received == sent)
        var rows: [[String: Int]] = []
        for try await row in try await provider(door).request(Endpoint<JSONLines<[String: Int]>>(.get, "/rows")).value { rows.append(row) }
        #expect(rows == [["a": 1], ["a": 2]])
    }

    @Test("A stream breaks off after its steps", arguments: Door.allCases)
    func failure(_ door: Door) async throws {
        MockURLProtocol.stub(
            .get, "/events",
            respond: .stream(
                [.chunk("data: a\n"), .chunk("\ndata: b"), .failure(URLError(.networkConnectionLost))],
                headers: ["Content-Type": "text/event-stream"]))
        var events = try await provider(door).request(Endpoint<ServerSentEvents>(.get, "/events")).value.makeAsyncIterator()

        if door.keepsChunks { #expect(try await events.next()?.data == "a") }
        let error = await #expect(throws: APIError.self) { while try await events.next() != nil {} }
        #expect(error?.urlError?.code == .networkConnectionLost)
    }

    @Test func eventsComeInVirtualTime() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a", "b", "c"), every: 0.1))
        let scheduler = TestScheduler()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler))
        var events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value.makeAsyncIterator()

        for data in ["a", "b", "c"] {
            scheduler.advance(by: .milliseconds(100))
            #expect(try await events.next()?.data == data)
        }
        #expect(try await events.next() == nil)
    }

    @Test func aSilentServerTimesOutInVirtualTime() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a", "b"), every: 5))
        let scheduler = TestScheduler()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler))
        let endpoint = Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: 6)
        var events = try await provider.request(endpoint).value.makeAsyncIterator()

        scheduler.advance(by: .seconds(5))
        #expect(try await events.next()?.data == "a")
        MockURLProtocol.stub(
            .get, "/silent", respond: .stream([.chunk("data: a\n\n"), .wait(7)], headers: ["Content-Type": "text/event-stream"]))
        let silent = Endpoint<ServerSentEvents>(.get, "/silent", timeoutInterval: 6)
        var silence = try await provider.request(silent).value.makeAsyncIterator()
        #expect(try await silence.next()?.data == "a")
        scheduler.advance(by: .seconds(6))
        let error = await #expect(throws: APIError.self) { try await silence.next() }
        #expect(error?.urlError?.code == .timedOut)
    }

    @Test("A byte a second is a sign of life, however long an event takes")
    func slowServer() async throws {
        let data = String(repeating: "x", count: 1000)
        let steps = "data: \(data)\n\n".map { StubResponse.Step.chunk(String($0)) }.flatMap { [.wait(1), $0] }
        MockURLProtocol.stub(.get, "/events", respond: .stream(steps, headers: ["Content-Type": "text/event-stream"]))
        let scheduler = TestScheduler()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler))
        let endpoint = Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: 2)
        var events = try await provider.request(endpoint).value.makeAsyncIterator()

        for _ in 0..<1008 { scheduler.advance(by: .seconds(1)) }
        #expect(try await events.next()?.data == data)
        #expect(try await events.next() == nil)
    }

    @Test("Very short waits lose no event", .longComputing)
    func shortWaits() async throws {
        let data = (0..<20).map { "\($0)" }
        MockURLProtocol.stub(.get, "/events", respond: .events(data.map { ServerSentEvent(data: $0) }, every: 1e-9))
        let provider = provider(.transport)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<rounds(200) {
                group.addTask {
                    try await provider.request(Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: 30)).value
                        .reduce(into: []) { $0.append($1.data) }
                }
            }
            for try await received in group { #expect(received == data) }
        }
    }

    @Test("Data that a test sends is read when it is sent", arguments: Door.allCases)
    func feed(_ door: Door) async throws {
        let (feed, received) = (StreamFeed(), Log<String>())
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        feed.send("data: before\n\n")
        let reading = Task { [provider = provider(door)] in
            for try await event in try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value {
                received.append(event.data)
            }
        }
        feed.send(ServerSentEvent(data: "a"))
        await feed.waitUntilRead()
        if door == .transport { #expect(received.entries == ["before", "a"]) }
        #expect(feed.bytesRead == 14 + 9)
        feed.send("data: b\n\nda")
        feed.finish()
        feed.send("data: late\n\n")
        try await reading.value

        #expect(received.entries == ["before", "a", "b"])
        #expect(!feed.isCancelled)
    }

    @Test("The test sees that the reader has left", arguments: Door.allCases)
    func feedIsLeft(_ door: Door) async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        do {
            var events = try await provider(door).request(Endpoint<ServerSentEvents>(.get, "/events")).value.makeAsyncIterator()
            feed.send("data: a\n\n")
            #expect(try await events.next()?.data == "a")
        }
        await feed.waitUntilCancelled()
        #expect(feed.isCancelled)
        feed.send("data: b\n\n")
        await feed.waitUntilRead()
    }

    @Test("A connection that a test breaks fails the reader after the data that was sent", arguments: Door.allCases)
    func feedFails(_ door: Door) async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        feed.send("data: a\n\n")
        feed.fail(URLError(.networkConnectionLost))
        var events = try await provider(door).request(Endpoint<ServerSentEvents>(.get, "/events")).value.makeAsyncIterator()

        if door.keepsChunks { #expect(try await events.next()?.data == "a") }
        let error = await #expect(throws: APIError.self) { while try await events.next() != nil {} }
        #expect(error?.urlError?.code == .networkConnectionLost)
    }

    @Test("A request that does not stream gets the whole feed at its end, and a second request fails", arguments: Door.allCases)
    func feedIsWhole(_ door: Door) async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/text", respond: .stream(from: feed))
        for text in ["a", "b", "c"] { feed.send(text) }
        feed.finish()
        #expect(try await provider(door).request(Endpoint<String>(.get, "/text")).value == "abc")

        let error = await #expect(throws: APIError.self) { try await provider(door).request(Endpoint<String>(.get, "/text")).value }
        #expect("\(error as Any)".contains("This StreamFeed has already answered a request. Create one feed per request."))
    }

    @Test func aStreamThatEndsIsAskedForAgain() async throws {
        MockURLProtocol.stub(
            .get, "/events",
            respond: .handler { request in
                switch request.headers["Last-Event-ID"] {
                case nil: .stream([.chunk("retry: 3000\nid: 1\ndata: a\n\n")], headers: ["Content-Type": "text/event-stream"])
                case "1": .stream([.chunk("data: b\n\nid: 2\n\n")], headers: ["Content-Type": "text/event-stream"])
                default: .status(204)
                }
            })
        let scheduler = WaitingScheduler()
        let received = Signals<ServerSentEvent?>()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        let reading = Task {
            for try await event in provider.events(Endpoint(.get, "/events"), scheduler: scheduler) { received.send(event) }
            received.send(nil)
        }

        #expect(await received.next() == ServerSentEvent(data: "a", lastEventID: "1"))
        #expect(await scheduler.waits.next() == .milliseconds(3000))
        scheduler.clock.advance(by: .milliseconds(3000))
        #expect(await received.next() == ServerSentEvent(data: "b", lastEventID: "1"))
        #expect(await scheduler.waits.next() == .milliseconds(3000))
        scheduler.clock.advance(by: .milliseconds(3000))
        #expect(await received.next() == .some(nil))
        try await reading.value
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2"])
    }

    @Test func aServerThatIsDownIsAskedAsOftenAsThePolicySays() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .status(503))
        let scheduler = WaitingScheduler()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        let reading = Task {
            for try await _ in provider.events(Endpoint(.get, "/events"), reconnecting: RetryPolicy(maxAttempts: 3), scheduler: scheduler) {
            }
        }
        for _ in 0..<2 {
            await scheduler.waits.next()
            scheduler.clock.advance(by: .seconds(30))
        }
        let error = await #expect(throws: APIError.self) { try await reading.value }
        #expect(error?.statusCode == 503)
        #expect(MockURLProtocol.requests.count == 3)
    }

    @Test func aRefusalThatNoSecondTryMendsEndsTheEvents() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .status(403))
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        var events = provider.events(Endpoint(.get, "/events"), scheduler: TestScheduler()).makeAsyncIterator()

        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.statusCode == 403)
        #expect(try await events.next() == nil)
    }

    @Test("A response that is not an event stream is not reconnected", arguments: Self.notEvents)
    func otherStatus(_ response: StubResponse) async throws {
        MockURLProtocol.stub(.get, "/events", respond: response)
        let scheduler = WaitingScheduler()
        let events = DefaultAPIProvider(baseURL: example, transport: MockTransport()).events(
            Endpoint(.get, "/events"), scheduler: scheduler)
        let reading = Task {
            defer { scheduler.waits.send(.never) }
            for try await _ in events {}
        }
        #expect(await scheduler.waits.next() == .never)
        reading.cancel()
        await #expect(throws: APIError.self) { try await reading.value }
        #expect(MockURLProtocol.requests.count == 1)
    }

    /// The last asks for a longer wait than the policy allows.
    private static var notEvents: [StubResponse] {
        [205, 210].map { .stream([.chunk("data: a\n\n")], status: $0, headers: ["Content-Type": "text/event-stream"]) } + [
            .status(503, headers: ["Retry-After": "31"])
        ]
    }

    @Test(
        "A request that follows another waits at least half the base delay, and as long as the server asks",
        arguments: [("retry: 0\n", nil), ("", nil), ("", "7")] as [(String, String?)])
    func leastWait(line: String, retryAfter: String?) async throws {
        let event = StubResponse.stream([.chunk(line + "data: a\n\n")], headers: ["Content-Type": "text/event-stream"])
        MockURLProtocol.stub(.get, "/events", respond: retryAfter.map { .status(503, headers: ["Retry-After": $0]) } ?? event)
        let scheduler = WaitingScheduler()
        let policy = RetryPolicy(maxAttempts: 1000, baseDelay: .seconds(2))
        let events = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            .events(Endpoint(.get, "/events"), reconnecting: policy, scheduler: scheduler)
        let reading = Task { for try await _ in events {} }
        for _ in 0..<20 {
            guard case .milliseconds(let wait)? = await scheduler.waits.next() else { break }
            #expect(retryAfter == nil ? 1000...2000 ~= wait : wait >= 7000)
            scheduler.clock.advance(by: .milliseconds(wait))
        }
        reading.cancel()
        _ = await reading.result
    }

    @Test("Events belong to the user who was signed in when they began")
    func anotherUser() async throws {
        MockURLProtocol.stub(
            .get, "/events", respond: .stream([.chunk("id: 1\ndata: a\n\n")], headers: ["Content-Type": "text/event-stream"]))
        let (scheduler, received) = (WaitingScheduler(), Signals<String>())
        let authentication = AuthenticationMiddleware(token: "alice") { _ in .error(TestError("refresh")) }
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [authentication])
        let reading = Task {
            do {
                for try await event in provider.events(Endpoint(.get, "/events"), scheduler: scheduler) { received.send(event.data) }
            } catch { received.send("\(error)") }
        }
        #expect(await received.next() == "a")
        await scheduler.waits.next()
        authentication.credential = nil
        authentication.credential = "bob"
        scheduler.clock.advance(by: .seconds(30))
        #expect(await received.next() == "The request was not sent: its user has signed out.")
        #expect(MockURLProtocol.requests.map { $0.headers["Authorization"] } == ["Bearer alice"])
        reading.cancel()
    }

    @Test("The policy's closure decides, and an identifier that is invalid in a header is not sent")
    func ownPolicy() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .status(503))
        MockURLProtocol.stub(
            .get, "/events", times: 1,
            respond: .stream([.chunk("id: \u{7}\ndata: a\n\n")], headers: ["Content-Type": "text/event-stream"]))
        MockURLProtocol.stub(.get, "/events", times: 1, respond: .status(423))
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        let policy = RetryPolicy(baseDelay: .milliseconds(1)) { _, result in (try? result.get())?.statusCode == 423 }
        var events = provider.events(Endpoint(.get, "/events"), reconnecting: policy).makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.statusCode == 503)
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, nil])
    }

    @Test func aDisposeEndsTheWait() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a")))
        let scheduler = WaitingScheduler()
        let disposed = Signals<Void>()
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        let events = provider.events(Endpoint(.get, "/events"), scheduler: scheduler)
        let subscription = Single.create { for try await _ in events {} }
            .do(onDispose: { disposed.send(()) })
            .subscribe()
        await scheduler.waits.next()
        subscription.dispose()
        await disposed.next()
        scheduler.clock.advance(by: .seconds(60))
        #expect(MockURLProtocol.requests.count == 1)
    }

    @Test("A recording has the data of a stream that arrived before it ended or its reader left, and replays it", arguments: [true, false])
    func recording(isLeft: Bool) async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a", "b"), every: 1))
        let (scheduler, folder) = (TestScheduler(), TemporaryFolder())
        let file = folder.url("session.har")
        let endpoint = Endpoint<ServerSentEvents>(.get, "/events")
        let provider = DefaultAPIProvider(
            baseURL: example, transport: MockTransport(scheduler: scheduler),
            middlewares: [RecordingMiddleware(to: file, keeping: ["text/event-stream"])])
        do {
            var events = try await provider.request(endpoint).value.makeAsyncIterator()
            scheduler.advance(by: .seconds(1))
            #expect(try await events.next()?.data == "a")
            if !isLeft { scheduler.advance(by: .seconds(1)) }
        }
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(har: file)
            var replayed: [String] = []
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            for try await event in try await provider.request(endpoint).value { replayed.append(event.data) }
            #expect(replayed == (isLeft ? ["a"] : ["a", "b"]))
        }
    }

    @Test("A request that may not be sent twice is not reconnected")
    func methods() async throws {
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
        var events = provider.events(Endpoint(.post, "/events")).makeAsyncIterator()

        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.description.contains("POST may not be sent again when its events end") == true, "\(String(describing: error))")
    }
}

/// Tells of each wait.
private struct WaitingScheduler: Scheduler {
    let clock = TestScheduler()
    let waits = Signals<DispatchTimeInterval>()

    var now: DispatchTime { clock.now }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        defer { waits.send(delay) }
        return clock.schedule(after: delay, action)
    }
}

private func messages(_ data: String...) -> [ServerSentEvent] { data.map { ServerSentEvent(data: $0) } }
