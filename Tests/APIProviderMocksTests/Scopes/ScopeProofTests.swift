import APIProvider
@_spi(Serving) import APIProviderMocks
import Foundation
import MiniRx
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
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A scope of a server keeps its newest requests and problems, and so many bytes, but always the last request")
    func limits() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.keepRequests(3, byteCount: 10)
            func send(_ path: RequestPath, _ count: Int) async {
                _ = try? await mocked.request(Endpoint<Data>(.post, path, body: .data(Data(count: count), contentType: "a/b"))).value
            }
            for number in 0..<5 { await send("/\(number)", 1) }
            #expect(MockURLProtocol.requests.map(\.path) == ["/2", "/3", "/4"] && MockURLProtocol.removedRequestCount == 2)
            #expect(MockURLProtocol.problems.count == 3 && MockURLProtocol.problems.last?.text.contains("example.com/4") == true)
            for (path, count, kept) in [("/8", 8, ["/3", "/4", "/8"]), ("/2", 2, ["/8", "/2"]), ("/99", 99, ["/99"])] {
                await send(RequestPath(path), count)
                #expect(MockURLProtocol.requests.map(\.path) == kept)
            }
            #expect(MockURLProtocol.removedRequestCount == 7)
            // What is forgotten takes no memory.
            let old = try await mocked.failure(of: Endpoint<Void>(.get, "/old"))
            for _ in 0..<20 { await send("/more", 1) }
            let new = try await mocked.failure(of: Endpoint<Void>(.get, "/new"))
            #expect(MockURLProtocol.report(of: old) == nil && MockURLProtocol.report(of: new) != nil)
        }
    }

    @Test("When a server forgets its requests, it forgets their problems, and a stub that cannot answer is a problem again")
    func forgetting() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/a", respond: .json(Double.nan))
            for _ in 0..<2 {
                for _ in 0..<2 { _ = try? await mocked.request(Self.request).value }
                #expect(MockURLProtocol.problems.count == 1 && MockURLProtocol.requests.count == 2)
                let error = try await mocked.failure(of: Endpoint<Void>(.get, "/other"))
                #expect(MockURLProtocol.report(of: error) != nil)
                MockURLProtocol.forgetRequests()
                #expect(MockURLProtocol.report(of: error) == nil)
                #expect(MockURLProtocol.problems.isEmpty && MockURLProtocol.requests.isEmpty)
            }
        }
    }

    @Test("A stub that a server removes answers no more and is no problem, and the others go on with their numbers of uses")
    func removing() async throws {
        try await MockURLProtocol.withScope {
            let stubs = (0..<3).map { MockURLProtocol.stub(.get, "/\($0)", respond: .status(200)) }
            try await mocked.request(Endpoint<Void>(.get, "/2")).value
            MockURLProtocol.remove(stubs[1])
            try await mocked.request(Endpoint<Void>(.get, "/0")).value
            try MockURLProtocol.verify()
            #expect(MockURLProtocol.useCounts(of: stubs) == [1, 0, 1])
            await #expect(throws: APIError.self) { try await mocked.request(Endpoint<Void>(.get, "/1")).value }
        }
    }

    @Test("The class of a scope and its providers reach it from a detached task, also while another is current", arguments: Way.allCases)
    func detached(way: Way) async throws {
        try await MockURLProtocol.withScope("outer") {
            let (mock, provider) = (MockURLProtocol.current, way.provider)
            let answer = try await MockURLProtocol.withScope("inner") {
                mock.stub(.get, "/a", respond: .data(Data("outer".utf8)))
                #expect(MockURLProtocol.problems.isEmpty)
                return try await Task.detached { try await provider.request(Self.request).value }.value
            }
            #expect(answer == "outer")
            #expect(MockURLProtocol.requests.count == 1)
            mock.responseWithFailure()
            await Task.detached { mock.reset() }.value
            #expect(MockURLProtocol.requests.isEmpty)
            #expect(MockURLProtocol.responseType == nil)
        }
    }
}
