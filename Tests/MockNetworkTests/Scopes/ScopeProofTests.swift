import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

@Suite("Scopes of providers", tenMinutes)
struct ScopeProofTests {
    private static let request = Endpoint<String>(.get, "/a")

    @Test("Hundreds of scopes in parallel each get the answers of their stub")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<rounds(100) {
                if number >= 50 { try await group.next() }
                group.addTask {
                    try await MockURLProtocol.withScope("\(number)") {
                        MockURLProtocol.stub(.get, "/a", respond: .data(Data("\(number)".utf8)))
                        let provider = Way.session.provider
                        for _ in 0..<10 {
                            let answer = try await provider.request(Self.request).value
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

    @Test("A nested scope has separate stubs, and a provider keeps the scope in which it was created", arguments: Way.allCases)
    func nested(way: Way) async throws {
        try await MockURLProtocol.withScope("outer") {
            MockURLProtocol.stub(.get, "/a", respond: .data(Data("outer".utf8)))
            let outer = way.provider
            try await MockURLProtocol.withScope("inner") {
                MockURLProtocol.stub(.get, "/a", respond: .data(Data("inner".utf8)))
                let inner = way.provider
                let answers = [try await inner.request(Self.request).value, try await outer.request(Self.request).value]
                #expect(answers == ["inner", "outer"])
                #expect(MockURLProtocol.requests.count == 1)
            }
            _ = try await outer.request(Self.request).value
            #expect(MockURLProtocol.requests.count == 2)
        }
    }

    @Test("A detached task reaches a scope by its provider and by its class", arguments: Way.allCases)
    func detached(way: Way) async throws {
        try await MockURLProtocol.withScope("scope") {
            let (mock, provider) = (MockURLProtocol.current, way.provider)
            let answer = try await Task.detached {
                mock.stub(.get, "/a", respond: .data(Data("scoped".utf8)))
                return try await provider.request(Self.request).value
            }.value
            #expect(answer == "scoped")
            #expect(MockURLProtocol.requests.count == 1)
        }
    }

    @Test("A provider that outlives its scope gets an error that says so", arguments: Way.allCases)
    func outlived(way: Way) async throws {
        let provider = try await MockURLProtocol.withScope("short") {
            MockURLProtocol.stub(.get, "/a", respond: .status(200))
            let provider = way.provider
            _ = try await provider.request(Self.request).value
            return provider
        }
        let error = try await provider.failure(of: Self.request)
        #expect(error.description.contains("The scope of the session that sent this request has ended"), "\(error)")
    }

    @Test("The class of a scope acts on it from anywhere, and scopes nest")
    func current() async throws {
        await MockURLProtocol.withScope("outer") {
            MockURLProtocol.responseWithStatusCode(code: 201)
            let outer = MockURLProtocol.current
            await MockURLProtocol.withScope("inner") {
                #expect(MockURLProtocol.responseType == nil)
                outer.responseWithFailure()
                #expect(MockURLProtocol.responseType == nil)
                await Task.detached { outer.reset() }.value
            }
            #expect(MockURLProtocol.responseType == nil)
        }
    }
}
