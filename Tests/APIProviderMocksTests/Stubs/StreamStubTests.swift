import APIProvider
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks

private let request = Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: 600)

/// An event stream.
private func stream(_ steps: [StubResponse.Step], status: Int = 200) -> StubResponse {
    .stream(steps, statusCode: status, headers: ["Content-Type": "text/event-stream"])
}

private func messages(_ data: String...) -> [ServerSentEvent] { data.map { ServerSentEvent(data: $0) } }

extension Answer {
    /// In seconds.
    fileprivate var waits: [Double] { steps.compactMap { if case .wait(let interval) = $0 { interval.seconds } else { nil } } }
}

@Suite("Stubs of streams", tenMinutes, .mockNetwork)
struct StreamStubTests {
    private let scheduler = TestScheduler()

    /// Waits pass in virtual time.
    private func virtual(_ middlewares: [any Middleware] = []) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler), middlewares: middlewares)
    }

    @Test(
        "A wait of a stream in chunks stays where it is between the bytes, and a failure is the end",
        arguments: [(1, ["abc", "1", "def", "2", "gh", "!"]), (2, ["abc", "1", "d", "ef", "2", "gh", "!"])])
    func chunksAndWaits(count: Int, steps: [String]) throws {
        let stream = StubResponse.stream([.chunk("ab"), .chunk("c"), .wait(.seconds(1)), .chunk("def"), .wait(.seconds(2)), .chunk("gh")])
        let response = stream.breakingOff(with: TestError()).chunked(into: count)
        let factory = try #require(response.factory(after: 0))
        let answer = factory(ReceivedRequest(PreparedRequest(.get, example)))
        let shown = answer.steps.map { step in
            switch step {
            case .data(let data): String(decoding: data, as: UTF8.self)
            case .wait(let interval): "\(Int(interval.seconds))"
            case .failure: "!"
            }
        }
        #expect(shown == steps)
        // For a task that takes the whole body at once.
        let whole = answer.joined().steps
        #expect(whole.count == 4)
        if case .data(let data) = whole[2] { #expect(data == Data("abcdefgh".utf8)) } else { Issue.record("\(whole)") }
    }

    @Test(
        "An event whose type or identifier would be another line is refused with a sentence, and no part of it is sent",
        arguments: [("a\nb", ""), ("a\rdata: b", ""), ("a\r\n\u{301}b", ""), ("message", "1\n"), ("message", "1\u{0}2")])
    func lineBreaks(type: String, id: String) async throws {
        let event = ServerSentEvent(type: type, data: "c", lastEventID: id)
        let feed = StreamFeed()
        feed.send(event)
        feed.send(ServerSentEvent(data: "d"))
        for response in [StubResponse.events(from: feed), .events([ServerSentEvent(data: "d"), event])] {
            let error = await MockURLProtocol.withScope {
                MockURLProtocol.stub(.get, "/events", respond: response)
                return await #expect(throws: APIError.self) {
                    for try await event in try await mocked.request(request).value { Issue.record("\(event)") }
                }
            }
            let reason = error.map { "\($0.underlying ?? $0)" } ?? ""
            #expect(reason.contains("type and lastEventID cannot contain a line break or a NUL: \(type.debugDescription)"), "\(reason)")
        }
        let others = [ServerSentEvent(type: "a b:c", data: "\n", lastEventID: "7 8"), ServerSentEvent(type: "\u{2028}", data: "d")]
        MockURLProtocol.stub(.get, "/events", respond: .events(others))
        let found = try await mocked.request(request).value.reduce(into: []) { $0.append($1) }
        #expect(found.map(\.type) == others.map(\.type) && found.map(\.data) == others.map(\.data))
    }

    @Test("Events and JSON lines come one by one", arguments: Way.allCases)
    func eventsAndLines(_ way: Way) async throws {
        let sent = [ServerSentEvent(data: "a\nb"), ServerSentEvent(type: "add", data: "c", lastEventID: "7")]
        MockURLProtocol.stub(.get, "/events", respond: .events(sent, every: .milliseconds(1)))
        MockURLProtocol.stub(.get, "/rows", respond: .jsonLines([["a": 1], ["a": 2]]))

        let received = try await way.provider.request(request).value.reduce(into: []) { $0.append($1) }
        #expect(received == sent)
        let rows = try await way.provider.request(Endpoint<JSONLines<[String: Int]>>(.get, "/rows")).value.reduce(into: []) {
            $0.append($1)
        }
        #expect(rows == [["a": 1], ["a": 2]])
    }

    @Test("A wait that is longer than the timeout is an error, and a timeout of 0 is none")
    func timeouts() {
        let answer = Answer(steps: [.wait(.seconds(2)), .data(Data("late".utf8))])
        #expect([0, 1, 2, 3].map { answer.timingOut(after: $0).failure != nil } == [false, true, false, false])
        #expect([0, 1, 2, 3].map { Answer(delay: 2).timingOut(after: $0).failure != nil } == [false, true, false, false])
        // Two waits in a row are one silence, and data ends it.
        let twice = Answer(steps: [.wait(.seconds(2)), .wait(.seconds(2)), .data(Data("late".utf8))])
        #expect([1, 3, 4].map { twice.timingOut(after: $0).waits } == [[1], [2, 1], [2, 2]])
        let between = Answer(steps: [.wait(.seconds(2)), .data(Data("a".utf8)), .wait(.seconds(2))])
        #expect([1, 2, 3].map { between.timingOut(after: $0).waits } == [[1], [2, 2], [2, 2]])
    }

    @Test("A slow reader of a long stream gets all of it, in order", arguments: Way.allCases)
    func slowReader(_ way: Way) async throws {
        // Far more than a transport buffers before it pauses the task.
        let chunks = (0..<64).map { Data(repeating: UInt8($0), count: 65_536) }
        let whole = chunks.reduce(into: Data()) { $0.append($1) }
        MockURLProtocol.stub(.get, "/bytes", respond: .stream(chunks.map { .data($0) }))
        var bytes = try await way.provider.request(Endpoint<ByteStream>(.get, "/bytes")).value.makeAsyncIterator()
        var count = 0
        while let part = try await bytes.next() {
            for _ in 0..<10 { await Task.yield() }
            #expect(whole[count..<min(count + part.count, whole.count)] == part)
            count += part.count
        }
        #expect(count == whole.count)
    }

    @Test("Without an interval, nothing waits between two lines or events, and a feed that was read to its end is not cancelled")
    func withoutInterval() async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/rows", respond: .jsonLines([["a": 1], ["a": 2]]))
        MockURLProtocol.stub(
            .get, "/events", respond: .sequence([.events([ServerSentEvent(data: "1"), ServerSentEvent(data: "2")]), .events(from: feed)]))
        let lines = Endpoint<JSONLines<[String: Int]>>(.get, "/rows").withResponse()
        let (rows, response) = try await virtual().request(lines).value
        #expect(try await rows.reduce(into: []) { $0.append($1["a"]) } == [1, 2] && response.statusCode == 200)
        feed.send(ServerSentEvent(data: "1"))
        feed.send(ServerSentEvent(data: "2"))
        feed.finish()
        for _ in 0..<2 {
            let (events, response) = try await virtual().request(request.withResponse()).value
            #expect(try await events.reduce(into: []) { $0.append($1.data) } == ["1", "2"] && response.statusCode == 200)
        }
        #expect(!feed.isCancelled)
    }

    @Test("What is sent between two looks of the reader is not missed")
    func between() {
        let (feed, calls) = (StreamFeed(), Log<String>())
        #expect(feed.next() == nil)
        feed.send("a")
        #expect(!feed.onNextPart { calls.append("a") })
        #expect(calls.entries.isEmpty && feed.next() != nil)
        #expect(feed.onNextPart { calls.append("end") })
        feed.finish()
        #expect(calls.entries == ["end"] && feed.next() != nil)
    }

    @Test("A connection that breaks fails the reader after the data that was sent", arguments: Way.allCases, [true, false])
    func failure(_ way: Way, isFeed: Bool) async throws {
        let (feed, error) = (StreamFeed(), URLError(.networkConnectionLost))
        let chunks = stream([.chunk("data: a\n"), .chunk("\ndata: b")]).breakingOff(with: error)
        MockURLProtocol.stub(.get, "/events", respond: isFeed ? .events(from: feed) : chunks)
        feed.send("data: a\n\n")
        feed.fail(error)
        var events = try await way.provider.request(request).value.makeAsyncIterator()

        if way.keepsChunks { #expect(try await events.next()?.data == "a") }
        let failure = await #expect(throws: APIError.self) { while try await events.next() != nil {} }
        #expect(failure?.urlError?.code == .networkConnectionLost)
    }

    @Test("With a scheduler that runs actions at once, no time passes: delays take none, and nothing times out")
    func atOnce() async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        MockURLProtocol.stub(.get, "/slow", respond: .data(Data("late".utf8)).delayed(by: .seconds(100)))
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: ImmediateScheduler()))
        var events = try await provider.request(request).value.makeAsyncIterator()
        #expect(try await provider.request(Endpoint<String>(.get, "/slow")).value == "late")
        feed.send("data: a\n\n")
        #expect(try await events.next()?.data == "a")
        feed.finish()
        #expect(try await events.next() == nil)
    }

    @Test("A silent server times out in virtual time, after its last bytes")
    func silentServer() async throws {
        MockURLProtocol.stub(
            .get, "/events",
            respond: stream([.wait(.seconds(5)), .chunk("data: a"), .wait(.seconds(5)), .chunk("\n\n"), .wait(.seconds(7))]))
        let request = Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: 6)
        var events = try await virtual().request(request).value.makeAsyncIterator()

        for _ in 0..<2 { scheduler.advance(by: .seconds(5)) }
        #expect(try await events.next()?.data == "a")
        scheduler.advance(by: .seconds(6))
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.urlError?.code == .timedOut)
    }

    @Test("A request that is disposed during a delay leaves nothing on the scheduler")
    func disposedDelay() {
        MockURLProtocol.stub(.get, "/a", respond: stream([.wait(.seconds(5)), .chunk("a")]).delayed(by: .seconds(5)))
        let start = scheduler.now
        for seconds in [1, 6] {
            let subscription = virtual().request(Endpoint<Data>(.get, "/a", timeoutInterval: 600)).subscribe { _ in }
            scheduler.advance(by: .seconds(seconds))
            subscription.dispose()
        }
        scheduler.run()
        #expect(scheduler.now == start + 7)
    }

    @Test("JSON in place of events is an error with its body", arguments: Way.allCases)
    func json(_ way: Way) async throws {
        MockURLProtocol.stub(.get, "/events", respond: .json(["error": "model not found"]))
        let error = try await way.provider.failure(of: request)
        #expect(try error.response?.decode([String: String].self) == ["error": "model not found"])
        #expect(error.description.contains("it is not text/event-stream (application/json, "), "\(error)")
    }

    @Test("Text without an end in place of events is an error at once", arguments: Way.allCases)
    func text(_ way: Way) async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/events", respond: .stream(from: feed, headers: ["Content-Type": "text/plain"]))
        let error = try await way.provider.failure(of: request)
        #expect(error.description.contains("its Content-Type is text/plain, and not that of ServerSentEvents"))
        await feed.waitUntilCancelled()
    }

    @Test(
        "JSON that does not end in place of events is an error, after the timeout or too many bytes",
        arguments: [(6, 1000, 6), (600, 4, 5), (600, -1, 0)] as [(TimeInterval, Int, Int)])
    func endlessJSON(timeout: TimeInterval, limit: Int, end: Int) throws {
        let lines = (0..<100).flatMap { _ in [StubResponse.Step.chunk("{}\n"), .wait(.seconds(5))] }
        MockURLProtocol.stub(.get, "/events", respond: .stream(lines, headers: ["Content-Type": "application/json"]))
        let (events, request) = (
            Log<SingleEvent<ServerSentEvents>>(), Endpoint<ServerSentEvents>(.get, "/events", timeoutInterval: timeout)
        )
        _ = virtual().request(request.option(\.maxElementSize, limit)).subscribe { events.append($0) }

        var seconds = 0
        while events.count == 0, seconds < 60 {
            scheduler.advance(by: .seconds(1))
            seconds += 1
        }
        #expect(seconds == end)
        let error = #expect(throws: APIError.self) { try events.entries.first?.get() }
        #expect(error?.description.contains("the response is not text/event-stream, and its body did not end in time") == true)
        #expect(error?.urlError?.code == .cannotDecodeContentData)
    }

    @Test("Very short waits lose no event", .longComputing)
    func shortWaits() async throws {
        let data = (0..<20).map { "\($0)" }
        MockURLProtocol.stub(.get, "/events", respond: .events(data.map { ServerSentEvent(data: $0) }, every: .nanoseconds(1)))
        let provider = mocked
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<rounds(50) {
                group.addTask { try await provider.request(request).value.reduce(into: []) { $0.append($1.data) } }
            }
            for try await received in group { #expect(received == data) }
        }
    }

    @Test("The reader gets data when the test sends it", arguments: Way.allCases)
    func feed(_ way: Way) async throws {
        let (feed, received) = (StreamFeed(), Log<String>())
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        feed.send("data: before\n\n")
        let reading = Task { [provider = way.provider] in
            for try await event in try await provider.request(request).value { received.append(event.data) }
        }
        feed.send(ServerSentEvent(data: "a"))
        await feed.waitUntilRead()
        if way == .transport { #expect(received.entries == ["before", "a"]) }
        feed.send("data: b\n\nda")
        feed.finish()
        feed.send("data: late\n\n")
        try await reading.value

        #expect(received.entries == ["before", "a", "b"])
        #expect(!feed.isCancelled)
    }

    @Test("The test sees that the reader has left", arguments: Way.allCases)
    func feedIsLeft(_ way: Way) async throws {
        let (feed, left) = (StreamFeed(), Log<Void>())
        feed.onCancel { left.append(()) }
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        do {
            var events = try await way.provider.request(request).value.makeAsyncIterator()
            feed.send("data: a\n\n")
            #expect(try await events.next()?.data == "a")
        }
        await feed.waitUntilCancelled()
        #expect(feed.isCancelled)
        #expect(await eventually { left.count == 1 })
        feed.send("data: b\n\n")
        await feed.waitUntilRead()
    }

    @Test(
        "A test that waits until all is read also waits for the end of the body",
        arguments: Way.allCases)
    func endIsRead(_ way: Way) async throws {
        let (feed, seen) = (StreamFeed(), Log<String>())
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        feed.send("data: a\n\n")
        feed.fail(URLError(.networkConnectionLost))
        let waiting = Task {
            await feed.waitUntilRead()
            seen.append("read")
        }
        seen.append("sent")
        _ = try? await way.provider.request(request).value.reduce(into: 0) { count, _ in count += 1 }
        await waiting.value
        #expect(seen.entries == ["sent", "read"])
    }

    @Test("A test that waits for a reader goes on when the request has ended, and when its own task is cancelled", arguments: Way.allCases)
    func endOfWaiting(_ way: Way) async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/events", respond: .events(from: feed))
        let stream = try await way.provider.request(request).value
        for _ in 0..<100 {
            let waiting = Task { await feed.waitUntilCancelled() }
            await Task.yield()
            waiting.cancel()
            await waiting.value
        }
        #expect(!feed.isCancelled)

        let other = Task { await feed.waitUntilCancelled() }
        feed.send("data: a\n\n")
        feed.finish()
        for try await _ in stream {}
        await other.value
        await feed.waitUntilRead()
        #expect(!feed.isCancelled)
    }

    @Test("A feed is cancelled if its body is never delivered", arguments: Way.allCases)
    func feedIsNotDelivered(_ way: Way) async throws {
        let (headOnly, timedOut, disposed) = (StreamFeed(), StreamFeed(), StreamFeed())
        MockURLProtocol.stub(.head, "/head", respond: .stream(from: headOnly))
        try await way.provider.request(Endpoint<Void>(.head, "/head")).value
        await headOnly.waitUntilCancelled()

        MockURLProtocol.stub(.get, "/late", respond: .stream(from: timedOut).delayed(by: .seconds(600)))
        let error = try await way.provider.failure(of: Endpoint<Void>(.get, "/late", timeoutInterval: 0.01))
        #expect(error.urlError?.code == .timedOut)
        await timedOut.waitUntilCancelled()

        let requests = Signals<Void>()
        let response = StubResponse.handler { _ in
            requests.send(())
            return .stream(from: disposed).delayed(by: .seconds(600))
        }
        MockURLProtocol.stub(.get, "/disposed", respond: response)
        let subscription = way.provider.request(Endpoint<Void>(.get, "/disposed", timeoutInterval: 1200)).subscribe()
        await requests.next()
        subscription.dispose()
        await disposed.waitUntilCancelled()
    }

    @Test("A request that does not stream gets the whole feed at its end, and a second request fails", arguments: Way.allCases)
    func feedIsWhole(_ way: Way) async throws {
        let (feed, request) = (StreamFeed(), Endpoint<String>(.get, "/text"))
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/text", respond: .stream(from: feed))
            for text in ["a", "b", "c"] { feed.send(text) }
            feed.finish()
            let text = try await way.provider.request(request).value
            #expect(text == "abc")
            let error = try await way.provider.failure(of: request)
            #expect(error.description.contains("Create one feed per request."))
        }
    }

    @Test("Events come one after the other in virtual time")
    func spacedEvents() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a", "b"), every: .seconds(1)))
        var events = try await virtual().request(request).value.makeAsyncIterator()
        for data in ["a", "b"] {
            scheduler.advance(by: .seconds(1))
            #expect(try await events.next()?.data == data)
        }
    }
}

@Suite("Events that reconnect", tenMinutes, .mockNetwork)
struct ReconnectingEventsTests {
    private let scheduler = WaitingScheduler()

    private func events(_ policy: RetryPolicy = .reconnecting) -> ReconnectingEvents {
        mocked.events(request, reconnecting: policy, scheduler: scheduler)
    }

    /// The next waits.
    private func milliseconds(_ count: Int) async -> [Int] {
        await scheduler.waits.next(count).map { if case .milliseconds(let wait) = $0 { wait } else { -1 } }
    }

    @Test("A stream that ends is requested again after its wait, with the identifier of its last event")
    func reconnecting() async throws {
        let (a, b) = (stream([.chunk("retry: 3000\nretries: 9000\nid: 1\ndata: a\n\n")]), stream([.chunk("data: b\n\nid: 2\n\n")]))
        MockURLProtocol.stub(.get, "/events", respond: .sequence([a, b, .status(204)]))

        let received = try await events().reduce(into: []) { $0.append($1) }
        #expect(received == ["a", "b"].map { ServerSentEvent(data: $0, lastEventID: "1") })
        // The jitter is at most the base delay.
        #expect(await milliseconds(2).allSatisfy { 3000...3500 ~= $0 })
        // After a 204 there is none.
        scheduler.waits.send(.seconds(99))
        #expect(await scheduler.waits.next() == .seconds(99))
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2"])
    }

    @Test("The identifier of an event that did not come whole does not count")
    func cutEvent() async throws {
        let cut = stream([.chunk("id: 1\ndata: a\n\nid: 2\ndata: b\n")])
        MockURLProtocol.stub(.get, "/events", respond: .sequence([cut, stream([.chunk("data: b\n\n")]), .status(204)]))
        #expect(try await events().reduce(into: []) { $0.append($1.lastEventID) } == ["1", "1"])
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test(
        "A temporary error is retried as often as the policy allows, and any other ends the events",
        arguments: [
            (.status(503), 3), (.status(403), 1), (stream([.chunk("data: a\n\n")], status: 205), 1),
            // This is longer than the policy allows.
            (.status(503, headers: ["Retry-After": "31"]), 1),
        ] as [(StubResponse, Int)])
    func failing(response: StubResponse, requests: Int) async throws {
        MockURLProtocol.stub(.get, "/events", respond: response)
        await #expect(throws: APIError.self) { for try await _ in events(RetryPolicy(maxAttempts: 3)) {} }
        #expect(MockURLProtocol.requests.count == requests)
    }

    @Test("Only attempts in a row count: a stream in between begins the count anew")
    func interruptedFailures() async throws {
        let event = stream([.chunk("data: a\n\n")])
        MockURLProtocol.stub(.get, "/events", respond: .sequence([.status(503), event, .status(503), event, .status(503), .status(204)]))
        let received = try await events(RetryPolicy(maxAttempts: 2)).reduce(into: []) { $0.append($1.data) }
        #expect(received == ["a", "a"])
    }

    @Test(
        "The next request waits at least half the base delay, and as long as the server asks",
        arguments: [("retry: 0\n", nil), ("", nil), ("", "7")] as [(String, String?)])
    func leastWait(line: String, retryAfter: String?) async throws {
        let event = stream([.chunk(line + "data: a\n\n")])
        MockURLProtocol.stub(.get, "/events", respond: retryAfter.map { .status(503, headers: ["Retry-After": $0]) } ?? event)
        var events = events(RetryPolicy(maxAttempts: 21, baseDelay: .seconds(2))).makeAsyncIterator()
        for _ in 0...20 { _ = try? await events.next() }
        let waits = await milliseconds(20)
        #expect(waits.allSatisfy { retryAfter == nil ? 1000...2000 ~= $0 : $0 >= 7000 }, "\(waits)")
    }

    @Test("By default they reconnect however often it fails, and as late as a refusal asks, but not later than the policy for a retry")
    func forever() async throws {
        let refusals = Array(repeating: StubResponse.status(503), count: 40) + [.status(503, headers: ["Retry-After": "3600"])]
        let day = stream([.chunk("retry: 86400000\ndata: a\n\n")])
        MockURLProtocol.stub(.get, "/events", respond: .sequence(refusals + [day, .status(204)]))
        #expect(try await events().reduce(into: []) { $0.append($1.data) } == ["a"])
        let waits = await milliseconds(42)
        #expect(waits[..<40].allSatisfy { 250...30_000 ~= $0 })
        #expect(3_600_000...3_600_500 ~= waits[40])
        #expect(30_000...30_500 ~= waits[41])
    }

    @Test("The Retry-After of a refusal counts once, also if a stream comes after it")
    func retryAfterOnce() async throws {
        let refusal = StubResponse.status(503, headers: ["Retry-After": "20"])
        MockURLProtocol.stub(
            .get, "/events", respond: .sequence([refusal, .failure(URLError(.timedOut)), stream([.chunk("data: a\n\n")]), .status(204)]))
        #expect(try await events().reduce(into: []) { $0.append($1.data) } == ["a"])
        let waits = await milliseconds(3)
        #expect(20_000...20_500 ~= waits[0])
        #expect(waits[1...].allSatisfy { $0 <= 2_000 }, "\(waits)")
    }

    @Test("They reconnect after a refresh that has failed for a while: its request is a POST, but `shouldRetry` gets that of the events")
    func failingRefresh() async throws {
        let failures = [StubResponse.status(503, headers: ["Retry-After": "7"]), .failure(URLError(.timedOut))]
        MockURLProtocol.stub(.post, "/token", respond: .sequence(failures + [.json("b")]))
        MockURLProtocol.stub(.get, "/events", respond: .sequence([stream([.chunk("data: a\n\n")]), .status(204)]))
        let login = mocked
        let authentication = AuthenticationMiddleware(token: nil) { _ in login.request(Endpoint<String>(.post, "/token")) }
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [authentication])
        let asked = Log<String>()
        var policy = RetryPolicy.reconnecting
        policy.shouldRetry = { request, _ in
            asked.append("\(request.method) \(request.url.path)")
            return nil
        }

        let events = provider.events(request, reconnecting: policy, scheduler: scheduler)
        #expect(try await events.reduce(into: []) { $0.append($1.data) } == ["a"])
        #expect(asked.entries == ["GET /events", "GET /events"])
        #expect(await milliseconds(1).allSatisfy { 7000...7500 ~= $0 })
        #expect(MockURLProtocol.requests.map(\.method) == [.post, .post, .post, .get, .get])
    }

    @Test("Events belong to the user who was signed in when they began")
    func anotherUser() async throws {
        MockURLProtocol.stub(.get, "/events", respond: stream([.chunk("id: 1\ndata: a\n\n")]))
        let authentication = AuthenticationMiddleware(token: "alice") { _ in .error(TestError("refresh")) }
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [authentication])
        var events = provider.events(request, scheduler: scheduler).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        authentication.credential = nil
        authentication.credential = "bob"
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect("\(String(describing: error))".contains("signed out"))
        #expect(MockURLProtocol.requests.map { $0.headers["Authorization"] } == ["Bearer alice"])
    }

    @Test("The policy's closure decides, and an identifier that is invalid in a header is not sent")
    func ownPolicy() async throws {
        let responses: [StubResponse] = [.status(423), stream([.chunk("id: \u{7}\ndata: a\n\n")]), .status(503)]
        MockURLProtocol.stub(.get, "/events", respond: .sequence(responses))
        var events = events(RetryPolicy { _, result in (try? result.get())?.statusCode == 423 }).makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.statusCode == 503)
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, nil])
    }

    @Test(
        "The app's own identifier is sent until the server sends one, or resets it",
        arguments: [
            ("data: a\n\n", "app"), (": nothing\n\n", "app"), ("id: 7\0\ndata: a\n\n", "app"), ("id: 7\ndata: a\n", "app"),
            ("id: 7\n\n", "7"), ("id: 7\ndata: a\n\nid\ndata: b\n\n", nil), ("id:\n\n", nil), ("id: \u{7}\n\n", nil),
        ] as [(String, String?)])
    func ownIdentifier(text: String, next: String?) async throws {
        MockURLProtocol.stub(.get, "/events", respond: .sequence([stream([.chunk(text)]), stream([]), .status(204)]))
        var endpoint = request
        endpoint.headers["last-event-id"] = "app"
        for try await _ in mocked.events(endpoint, scheduler: scheduler) {}
        #expect(MockURLProtocol.requests.map { $0.headers["Last-Event-ID"] } == ["app", next, next])
    }

    @Test("The policy's closure is asked at each request that fails, and not when a stream ends or breaks")
    func askedAtFailures() async throws {
        let broken = stream([.chunk("data: a\n\n"), .failure(URLError(.networkConnectionLost))])
        let offline = StubResponse.failure(URLError(.notConnectedToInternet))
        let responses = [offline, .status(503), broken, stream([.chunk("data: b\n\n")]), offline, .status(204)]
        MockURLProtocol.stub(.get, "/events", respond: .sequence(responses))
        let log = Log<String>()
        var policy = RetryPolicy.reconnecting
        policy.shouldRetry = { _, result in
            log.append((try? result.get().statusCode).map { "\($0)" } ?? "offline")
            return nil
        }
        for try await event in events(policy) { log.append(event.data) }
        #expect(log.entries == ["offline", "503", "a", "b", "offline"])
    }

    @Test("A dispose ends the wait")
    func dispose() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events(messages("a")))
        let (clock, disposed) = (TestScheduler(), Signals<Void>())
        let waiting = WaitingScheduler(clock: clock)
        let events = mocked.events(request, scheduler: waiting)
        let subscription = Single.create { for try await _ in events {} }.do(onDispose: { disposed.send(()) }).subscribe()
        await waiting.waits.next()
        subscription.dispose()
        await disposed.next()
        clock.advance(by: .seconds(60))
        #expect(MockURLProtocol.requests.count == 1)
    }

    @Test("A request that may not be sent twice is not reconnected")
    func methods() async throws {
        var events = mocked.events(Endpoint(.post, "/events")).makeAsyncIterator()

        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.description.contains("POST may not be sent again") == true, "\(String(describing: error))")
    }

    @Test("Nor is a request of which a redirect has made one that may not be sent twice", arguments: [200, 503])
    func redirectedMethod(status: Int) async throws {
        MockURLProtocol.stub(.get, "/events", respond: .redirect(to: "/posted", statusCode: 307))
        MockURLProtocol.stub(.post, "/posted", respond: stream([.data(Data("data: a\n\n".utf8))], status: status))
        let policy = RedirectPolicy.decide { next, _ in PreparedRequest(.post, next.url, body: RequestBody(Data())) }
        var events = mocked.events(request.option(\.redirectPolicy, policy), scheduler: WaitingScheduler()).makeAsyncIterator()

        if status == 200 { #expect(try await events.next()?.data == "a") }
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.description.contains("a redirect has led to may not be sent again") == true, "\(String(describing: error))")
        #expect(MockURLProtocol.requests.map(\.method) == [.get, .post])
    }
}

/// Reports each wait. Without a clock, the wait is over at once.
private struct WaitingScheduler: Scheduler {
    var clock: TestScheduler?
    let waits = Signals<DispatchTimeInterval>()

    var now: DispatchTime { clock?.now ?? .now() }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        defer { waits.send(delay) }
        if let clock { return clock.schedule(after: delay, action) }
        DispatchQueue.global().async(execute: action)
        return Disposables.create()
    }
}
