import APIProvider
import APIProviderMocks
import APIProviderTesting
import Fixtures
import Foundation
import MiniRx
import TestSupport
import Testing

/// A request whose response is not validated, with a timeout that is long enough for a busy machine.
private func raw(_ method: HTTPMethod = .get, _ path: RequestPath = "/a", body: HTTPBody? = nil) -> Endpoint<APIResponse> {
    Endpoint(method, path, body: body, timeoutInterval: 600) { $0 }.validating { _ in }
}

@Suite("Answers of stubs", .mockNetwork, tenMinutes)
struct StubResponseTests {
    @Test("A response is its status, its headers and its body", arguments: Way.allCases)
    func response(way: Way) async throws {
        let table: [(StubResponse, Int, String?, String)] = [
            (.json(["b": 1, "a": 2], statusCode: 201), 201, "application/json", #"{"a":2,"b":1}"#),
            (.json(["b": "x", "a": [1, nil]], statusCode: 422), 422, "application/json", #"{"a":[1,null],"b":"x"}"#),
            (.json([:]), 200, "application/json", "{}"),
            (.json([1], headers: ["content-type": "application/problem+json"]), 200, "application/problem+json", "[1]"),
            (.json(text: #"{"a": [1, "b"]}"#), 200, "application/json", #"{"a": [1, "b"]}"#),
            (.data(Data("x".utf8), statusCode: 404, headers: ["Content-Type": "text/plain"]), 404, "text/plain", "x"),
            (.data(Data("x".utf8)), 200, nil, "x"),
            (.status(503, headers: ["Retry-After": "1"]), 503, nil, ""),
            (.fixture(MockURLProtocol.MockDTOType.empty), 200, nil, ""),
        ]
        for (response, status, type, body) in table {
            MockURLProtocol.stub(.get, "/a", respond: response)
            let answer = try await way.provider.request(raw()).value
            #expect(answer.statusCode == status)
            #expect(answer.value(forHTTPHeaderField: "Content-Type") == type)
            #expect(String(decoding: answer.data, as: UTF8.self) == body)
            #expect(answer.httpResponse.url?.path == "/a")
        }
        MockURLProtocol.stub(.get, "/a", respond: .fixture(MockURLProtocol.MockDTOType.user))
        let answer = try await way.provider.request(raw()).value
        #expect(answer.data.count > 1000)
        #expect(answer.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test("Failures, values that JSON cannot hold and errors of handlers fail the request", arguments: Way.allCases)
    func failure(way: Way) async throws {
        let table: [(StubResponse, String)] = [
            (.failure(TestError("offline")), "offline"),
            (.json(Double.nan), "nan"), (.json(["a": JSONValue(Double.nan), "b": "x"]), "nan"),
            (.handler { _ in throw TestError("refused") }, "refused"),
        ]
        for (response, text) in table {
            try await MockURLProtocol.withScope {
                MockURLProtocol.stub(.get, "/a", respond: response)
                let error = try await way.provider.failure(of: raw())
                #expect("\(error)".contains(text), "\(error)")
            }
        }
    }

    @Test("A redirect is answered by the stubs again, and an endless one is an error", arguments: Way.allCases)
    func redirect(way: Way) async throws {
        MockURLProtocol.stub(.post, "/a", respond: .redirect(to: "/b", statusCode: 303))
        MockURLProtocol.stub(.get, "/b", respond: .redirect(to: "https://other.example.com/c"))
        MockURLProtocol.stub(.get, "https://other.example.com/c", respond: .status(200))
        #expect(try await way.provider.request(raw(.post)).value.request.url.absoluteString == "https://other.example.com/c")
        #expect(MockURLProtocol.requests.map(\.path) == ["/a", "/b", "/c"])
        MockURLProtocol.stub(.get, "/a", respond: .redirect(to: "/a"))
        #expect(try await way.provider.failure(of: raw()).urlError?.code == .httpTooManyRedirects)
    }

    @Test("A handler gets the body, runs in its scope, and may stub, reset and send requests", arguments: Way.allCases)
    func handler(way: Way) async throws {
        let provider = way.provider
        MockURLProtocol.stub(
            .post, "/a",
            respond: .handler { request in
                MockURLProtocol.reset()
                MockURLProtocol.stub(.get, "/inner", respond: .data(Data("inner".utf8)))
                let (answer, isThere) = (Log<String>(), DispatchSemaphore(value: 0))
                _ = provider.request(Endpoint<String>(.get, "/inner")).subscribe { event in
                    answer.append((try? event.get()) ?? "failed")
                    isThere.signal()
                }
                isThere.wait()
                return .json([String(decoding: request.body, as: UTF8.self)] + answer.entries, statusCode: 201)
            })
        let (body, log) = (HTTPBody.data(Data("sent".utf8), contentType: "text/plain"), Log<TransferProgress>())
        let answer = try await provider.request(raw(.post, body: body).onProgress { log.append($0) }).value
        #expect(try answer.decode([String].self) == ["sent", "inner"])
        #expect(log.entries.first == TransferProgress(bytesSent: 4, bytesToSend: 4))
        #expect(answer.statusCode == 201)
        #expect(MockURLProtocol.requests.map(\.path) == ["/inner"])
    }

    @Test("A sequence hands each answer out once, in order, also under 100 concurrent requests", arguments: Way.allCases)
    func sequence(way: Way) async throws {
        let provider = way.provider
        MockURLProtocol.stub(.get, "/a", respond: .sequence((0..<100).map { .data(Data("\($0)".utf8)) }))
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await provider.request(Endpoint<String>(.get, "/a")).value } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.compactMap { Int($0) }.sorted() == Array(0..<100))

        MockURLProtocol.stub(.get, "/b", respond: .sequence([.sequence([.status(201), .status(202)]), .status(203)]))
        MockURLProtocol.stub(.get, "/c", respond: .repeatingLast([.status(201), .status(202)]))
        var statuses: [Int] = []
        for path in ["/b", "/b", "/b", "/c", "/c", "/c"] {
            statuses.append(try await provider.request(raw(.get, RequestPath(path))).value.statusCode)
        }
        #expect(statuses == [201, 202, 203, 201, 202, 202])
    }

    @Test("After its last answer, a sequence fails requests, unless times lets older stubs answer", arguments: Way.allCases)
    func exhausted(way: Way) async throws {
        try await MockURLProtocol.withScope {
            let provider = way.provider
            MockURLProtocol.stub(.get, "/a", respond: .status(204))
            MockURLProtocol.stub(.get, "/a", times: 2, respond: .sequence([.status(201), .status(202)]))
            for status in [201, 202, 204] { #expect(try await provider.request(raw()).value.statusCode == status) }
            MockURLProtocol.stub(.get, "/a", respond: .sequence([.status(200), .status(200)]))
            for _ in 0..<2 { _ = try await provider.request(raw()).value }
            let error = try await provider.failure(of: raw())
            #expect(error.description.contains("exhausted after 2"), "\(error)")
            #expect(error.description.contains("used up after 2"), "\(error)")
            #expect(error.description.contains("matches, but an exhausted newer stub (1.) answers before it"), "\(error)")
            #expect(error.description.contains("add answers to the sequence") && !error.description.contains("paste"), "\(error)")
            #expect(MockURLProtocol.unmatchedRequests.count == 1)
        }
    }

    @Test("Disposing ends a request that waits for its answer, and no event follows", arguments: Way.allCases)
    func disposed(way: Way) async throws {
        let (provider, log) = (way.provider, Log<String>())
        MockURLProtocol.stub(.get, "/b", respond: .status(200))
        for response in [.never, .status(200).delayed(by: .seconds(3600))] as [StubResponse] {
            MockURLProtocol.stub(.get, "/a", respond: response)
            var token = Token()
            let held = provider.request(raw()).subscribe { [token] event in log.append("\(event), \(token)") }
            // Requests that wait do not delay others.
            _ = try await provider.request(raw(.get, "/b")).value
            held.dispose()
            _ = try await provider.request(raw(.get, "/b")).value
            let isReleased = isKnownUniquelyReferenced(&token)
            #expect(isReleased)
        }
        #expect(log.entries.isEmpty)
    }

    private struct Holding: Error { let token: OnRelease }

    @Test("A request that is disposed during a delay keeps nothing of its answer until the delay has passed", arguments: Way.allCases)
    func disposedDelay(way: Way) async throws {
        let released = Log<Void>()
        try await MockURLProtocol.withScope {
            let (provider, delay) = (way.provider, DispatchTimeInterval.seconds(300))
            MockURLProtocol.stub(
                .get, "/a", respond: .failure(Holding(token: OnRelease { released.append(()) })).delayed(by: delay))
            MockURLProtocol.stub(.get, "/b", respond: .status(200))
            let request = provider.request(raw()).subscribe { _ in }
            // Then the first one waits.
            _ = try await provider.request(raw(.get, "/b")).value
            request.dispose()
            // The mock itself keeps the answers of its test.
            MockURLProtocol.reset()
            #expect(await eventually { released.count == 1 })
        }
    }

    @Test("Delays add up, and a response comes no earlier", arguments: Way.allCases)
    func delay(way: Way) async throws {
        let provider = way.provider
        MockURLProtocol.stub(
            .get, "/a",
            respond: .sequence([.status(200), .handler { _ in .status(200) }]).delayed(by: .milliseconds(2)).delayed(by: .milliseconds(3)))
        for _ in 0..<2 {
            let start = DispatchTime.now()
            _ = try await provider.request(raw()).value
            #expect(DispatchTime.now() >= start + .milliseconds(5))
        }
    }

    @Test("Each chunk arrives alone and is reported as progress", arguments: Way.allCases)
    func chunks(way: Way) async throws {
        let body = Data("0123456789".utf8)
        let table = [(3, [3, 6, 10]), (1, [10]), (0, [10]), (-1, [10]), (100, Array(1...10))] as [(Int, [Int64])]
        for (count, steps) in table {
            MockURLProtocol.stub(.get, "/a", respond: .data(body, headers: ["Content-Length": "10"]).chunked(into: count))
            let log = Log<TransferProgress>()
            let answer = try await way.provider.request(raw().onProgress { log.append($0) }).value
            #expect(answer.data == body)
            let received = log.entries.map(\.bytesReceived)
            #expect(way.keepsChunks ? received == steps : received == received.sorted() && received.last == 10)
            #expect(log.entries.allSatisfy { $0.bytesToReceive == 10 })
        }
    }

    @Test(
        "An answer without a delay comes at once, and one after the request's timeout is a timeout",
        arguments: [nil, 0, 1_400, 1_500, 1_600])
    func timeouts(delay: Int?) {
        let (scheduler, events) = (TestScheduler(), Log<String>())
        MockURLProtocol.stub(.get, "/a", respond: delay.map { .status(200).delayed(by: .milliseconds($0)) } ?? .never)
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler))
        let subscription = provider.request(Endpoint<Void>(.get, "/a", timeoutInterval: 1.5)).subscribe(
            onSuccess: { _ in events.append("value") }, onFailure: { events.append("\(($0 as? APIError)?.urlError?.code == .timedOut)") })
        #expect(events.entries == (delay == 0 ? ["value"] : []))
        scheduler.advance(by: .milliseconds(1_399))
        #expect(events.entries == (delay == 0 ? ["value"] : []))
        scheduler.advance(by: .milliseconds(101))
        #expect(events.entries == (delay.map { $0 <= 1_500 } == true ? ["value"] : ["true"]))
        subscription.dispose()
    }

    @Test("The time that a request may take in all passes on the transport's scheduler, too")
    func wholeTime() {
        let scheduler = TestScheduler()
        MockURLProtocol.stub(.get, "/a", respond: .never)
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler))
        let observer = scheduler.observe(provider.request(Endpoint<Void>(.get, "/a").timeout(.seconds(5))))
        scheduler.advance(by: .milliseconds(4_999))
        #expect(observer.error == nil)
        scheduler.advance(by: .milliseconds(1))
        #expect((observer.error as? APIError)?.urlError?.code == .timedOut)
    }

    @Test("Answers to HEAD, 204 and 304 have no body", arguments: Way.allCases)
    func noBody(way: Way) async throws {
        for (method, code) in [(.head, 200), (.get, 204), (.get, 304)] as [(HTTPMethod, Int)] {
            MockURLProtocol.stub(method, "/a", respond: .data(Data("body".utf8), statusCode: code))
            let answer = try await way.provider.request(raw(method)).value
            #expect(answer.data.isEmpty)
            #expect(answer.statusCode == code)
        }
        MockURLProtocol.reset()
        MockURLProtocol.responseWithDTO(type: .user)
        #expect(try await way.provider.request(raw(.head)).value.data.isEmpty)
    }
}
