import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

/// Scopes in such numbers that a mistake would show.
@Suite("Scopes in numbers", tenMinutes)
struct ScopeProofTests {
    @Test("1,000 scopes in parallel, with at most 200 sessions alive, get their own answers to one URL, ten times each")
    func thousand() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                if number >= 200 { try await group.next() }
                group.addTask {
                    try await MockURLProtocol.withScope("\(number)") {
                        MockURLProtocol.stub(.get, "/one", respond: .data(Data("\(number)".utf8)))
                        let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
                        for _ in 0..<10 {
                            let answer = try await provider.request(Endpoint<String>(.get, "/one")).value
                            #expect(answer == "\(number)")
                        }
                        #expect(MockURLProtocol.requests.count == 10)
                        #expect(MockURLProtocol.requests.allSatisfy { $0.stub != nil })
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A nested scope has its own stubs, and a session keeps the scope in which it was created")
    func nested() async throws {
        try await MockURLProtocol.withScope("outer") {
            MockURLProtocol.stub(.get, "/a", respond: .data(Data("outer".utf8)))
            let outer = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            try await MockURLProtocol.withScope("inner") {
                MockURLProtocol.stub(.get, "/a", respond: .data(Data("inner".utf8)))
                let inner = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
                let answers = [
                    try await inner.request(Endpoint<String>(.get, "/a")).value,
                    try await outer.request(Endpoint<String>(.get, "/a")).value,
                ]
                #expect(answers == ["inner", "outer"])
                #expect(MockURLProtocol.requests.count == 1)
            }
            let answer = try await outer.request(Endpoint<String>(.get, "/a")).value
            #expect(answer == "outer")
            #expect(MockURLProtocol.requests.count == 2)
        }
    }

    @Test("A detached task reaches a scope by its session and by its class")
    func detached() async throws {
        try await MockURLProtocol.withScope("scope") {
            let mock = MockURLProtocol.current
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            let answer = try await Task.detached {
                mock.stub(.get, "/a", respond: .data(Data("scoped".utf8)))
                return try await provider.request(Endpoint<String>(.get, "/a")).value
            }.value
            #expect(answer == "scoped")
            #expect(MockURLProtocol.requests.count == 1)
        }
    }

    @Test("A session that outlives its scope gets an error that says so")
    func outlived() async throws {
        let provider = try await MockURLProtocol.withScope("short") {
            MockURLProtocol.stub(.get, "/a", respond: .status(200))
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            _ = try await provider.request(Endpoint<String>(.get, "/a")).value
            return provider
        }
        let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<String>(.get, "/a")).value }
        #expect(error.description.contains("The scope of the session that sent this request has ended"), "\(error)")
    }
}
