import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("Stubs", .mockNetwork, .timeLimit(.minutes(2)))
struct StubTests {
    private let provider = DefaultAPIProvider(configuration: MockURLProtocol.configuration)

    @Test("The newest stub that matches and is not used up answers")
    func newest() async throws {
        MockURLProtocol.stub("/a", respond: .data(Data("any".utf8)))
        MockURLProtocol.stub(.get, "/a", times: 2, respond: .data(Data("twice".utf8)))
        MockURLProtocol.stub(.post, "/a", isOptional: true, respond: .status(500))
        var answers: [String] = []
        for _ in 0..<3 { answers.append(try await provider.request(Get(path: "/a")).value) }
        #expect(answers == ["twice", "twice", "any"])
    }
}
