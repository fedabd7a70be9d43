import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks

@Suite("A scope that has ended", tenMinutes)
struct EndedScopeTests {
    /// The class of a scope that has ended, after `operation`.
    private func endedScope(_ operation: () async throws -> Void = {}) async rethrows -> MockURLProtocol.Type {
        try await MockURLProtocol.withScope("search") {
            try await operation()
            return MockURLProtocol.current
        }
    }

    private func verification(of mock: MockURLProtocol.Type) throws -> String {
        try #require(throws: (any Error).self) { try mock.verify() }.localizedDescription
    }

    @Test("Verifying throws, whatever happened before the end", arguments: [true, false])
    func verify(isUsed: Bool) async throws {
        let mock = try await endedScope {
            MockURLProtocol.stub(.get, "/a", respond: .status(200))
            if isUsed { _ = try await mocked.request(Endpoint<Data>(.get, "/a")).value }
        }
        #expect(try verification(of: mock).hasPrefix("The scope \"search\" has ended"))
        #expect(try verification(of: mock).contains("Call verify() before its end."))
        // The class's own reset brings nothing back.
        mock.reset()
        #expect(try verification(of: mock).hasPrefix("The scope \"search\" has ended"))
    }

    @Test("Verifying throws also in a task that outlives the scope")
    func task() async throws {
        let (isOver, end) = AsyncStream.makeStream(of: Void.self)
        let task = MockURLProtocol.withScope {
            Task {
                for await _ in isOver { break }
                try MockURLProtocol.verify()
            }
        }
        end.yield()
        await #expect(throws: (any Error).self) { try await task.value }
    }

    @Test("The requests are those at the end, also by stub, and after a request that came too late", arguments: Way.allCases)
    func requests(way: Way) async throws {
        let kept = Locked<(stub: Stub, provider: DefaultAPIProvider)?>(nil)
        let mock = try await endedScope {
            let (stub, provider) = (MockURLProtocol.stub(.get, "/a", respond: .status(200)), way.provider)
            _ = try await provider.request(Endpoint<Data>(.get, "/a")).value
            _ = try await provider.failure(of: Endpoint<Data>(.get, "/b"))
            kept.withLock { $0 = (stub, provider) }
        }
        let (stub, provider) = try #require(kept.withLock { $0 })
        await MockURLProtocol.withScope {
            _ = try? await provider.request(Endpoint<Data>(.get, "/late")).value
        }
        #expect(mock.requests.map(\.url.path) == ["/a", "/b"])
        #expect(mock.unmatchedRequests.map(\.url.path) == ["/b"])
        #expect(stub.requests.map(\.url.path) == ["/a"])
    }

    @Test("What is set up after the end answers nothing, and a late request's error and `verify` name it", arguments: Way.allCases)
    func lateAnswers(way: Way) async throws {
        let provider = Locked<DefaultAPIProvider?>(nil)
        let mock = await endedScope { provider.withLock { $0 = way.provider } }
        let stub = mock.stub(.get, "/a", respond: .status(200))
        mock.responseWithStatusCode(code: 200)
        mock.requestHandler = { _ in throw URLError(.badURL) }
        try await MockURLProtocol.withScope {
            let late = try await #require(provider.withLock { $0 }).failure(of: Endpoint<Data>(.get, "/a"))
            for text in [late.localizedDescription + "\(late)", try verification(of: mock)] {
                #expect(text.contains("answers nothing: the stub \(stub), a responseType, a requestHandler."), "\(text)")
            }
        }
        #expect(stub.requests.isEmpty && mock.responseType == nil && mock.requestHandler == nil)
    }

    @Test("Its stubs are released, and what they hold, though a test keeps the class and a stub's requests stay")
    func release() async throws {
        weak var token: Token?
        let mock = await endedScope {
            let held = Token()
            token = held
            MockURLProtocol.stub(.get, "/a", isOptional: true, respond: .handler { _ in withExtendedLifetime(held) { .status(200) } })
            MockURLProtocol.requestHandler = { _ in throw withExtendedLifetime(held) { URLError(.badURL) } }
        }
        #expect(token == nil)
        #expect(mock.requests.isEmpty)
    }

    @Test("A stub or recording that comes while its scope ends is released, too")
    func lateStubs() async {
        for round in 0..<rounds(300) {
            let adding = MockURLProtocol.withScope {
                let mock = MockURLProtocol.current
                return Task.detached { () -> WeakToken in
                    let token = Token()
                    spin(upTo: 20)
                    if round.isMultiple(of: 2) {
                        mock.stub(.get, "/a", respond: .handler { _ in withExtendedLifetime(token) { .status(200) } })
                    } else {
                        mock.add(AnswerSource { _ in withExtendedLifetime(token) { .none(reason: "") } })
                    }
                    return WeakToken(token: token)
                }
            }
            let added = await adding.value
            #expect(added.token == nil)
        }
    }

    @Test("Its requests can be asked for while it ends")
    func requestsWhileEnding() async throws {
        for _ in 0..<rounds(300) {
            let asking = try await MockURLProtocol.withScope {
                MockURLProtocol.stub(.get, "/a", respond: .status(200))
                _ = try await mocked.request(Endpoint<Data>(.get, "/a")).value
                let mock = MockURLProtocol.current
                let begun = Signals<Void>()
                let task = Task.detached { () -> Bool in
                    begun.send(())
                    return (0..<200).allSatisfy { _ in mock.requests.count == 1 }
                }
                await begun.next()
                return task
            }
            #expect(await asking.value)
        }
    }

    @Test("Of a body, the first 64 KB stay")
    func bodies() async throws {
        let (small, large) = (Data(repeating: 1, count: 65_536), Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0) }))
        let mock = try await endedScope {
            MockURLProtocol.stub(.put, "/a", respond: .status(200))
            for body in [small, large] {
                _ = try await mocked.request(Endpoint<Data>(.put, "/a", body: .data(body, contentType: "a/b"))).value
            }
            #expect(MockURLProtocol.requests.map(\.body) == [small, large])
        }
        #expect(mock.requests.map(\.body) == [small, large.prefix(65_536)])
    }

    @Test("A late request's error shows no value that a recording of the scope hides", arguments: Way.allCases, [true, false])
    func hiddenNames(way: Way, isReset: Bool) async throws {
        let provider = MockURLProtocol.withScope("search") {
            MockURLProtocol.add(AnswerSource(hiding: ["nickname"]) { _ in .none(reason: "") })
            if isReset { MockURLProtocol.reset() }
            return way.provider
        }
        try await MockURLProtocol.withScope {
            let error = try await provider.failure(of: Endpoint<Data>(.get, "/a", query: ["nickname": "annie", "page": 2]))
            let text = "\(try #require(error.underlying))"
            #expect(text.contains("\"search\", has ended") && text.contains("nickname=…&page=2"), "\(text)")
        }
    }

    #if os(Linux) && compiler(>=6.2)  // An exit test, which has the scope of the process for itself, as an XCTest has.
    @Test("A `reset` of the shared class ends no scope: the next test's `verify` sees its own problems alone")
    func sharedReset() async throws {
        await #expect(processExitsWith: .success) {
            for _ in 0..<2 {
                MockURLProtocol.stub(.get, "/a", respond: .status(200))
                #expect(throws: (any Error).self) { try MockURLProtocol.verify() }
                _ = try await mocked.request(Endpoint<Data>(.get, "/a")).value
                try MockURLProtocol.verify()
                MockURLProtocol.reset()
                try MockURLProtocol.verify()
                #expect(MockURLProtocol.requests.isEmpty)
            }
        }
    }
    #endif

    @Test("A request that comes while its scope ends gets its answer, or is told so")
    func race() async {
        for _ in 0..<rounds(200) {
            let sent = MockURLProtocol.withScope("search") {
                MockURLProtocol.stub(.get, "/a", isOptional: true, respond: .status(200))
                let provider = mocked
                return Task.detached { () -> String? in
                    spin(upTo: 20)
                    do { _ = try await provider.request(Endpoint<Data>(.get, "/a")).value } catch { return "\(error)" }
                    return nil
                }
            }
            if let failure = await sent.value { #expect(failure.contains("\"search\", has ended"), "\(failure)") }
        }
    }
}

private struct WeakToken: Sendable {
    weak let token: Token?
}
