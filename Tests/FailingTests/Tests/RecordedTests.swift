import APIProviderRecordingTesting
import Foundation
import Testing

// `run` records, replays and verifies these, and compares what they say.

/// A server that answers what the environment says.
private let server = ClosureTransport { request in
    let answer = ProcessInfo.processInfo.environment["ANSWER"] ?? "no answer"
    return .just(APIResponse(to: request, headers: ["Content-Type": "application/json"], data: Data(answer.utf8)))
}

@Suite struct Recorded {
    @Test(.mockNetwork(recording: "items", from: server)) func items() async throws {
        let provider = DefaultAPIProvider(
            baseURL: URL(string: "https://api.example.com"), configuration: MockURLProtocol.configuration)
        let items = try await provider.request(Endpoint<[String: Int?]>(.get, "/items")).value
        #expect(items["a"] == 1)
        if ProcessInfo.processInfo.environment["MORE"] != nil { _ = try await provider.request(Endpoint<Data>(.get, "/more")).value }
    }

    @Test(.mockNetwork(recording: "items")) func otherItems() {}

    @Test(.mockNetwork(recording: "raw", from: server)) func `is it there?`() async throws {
        let provider = DefaultAPIProvider(
            baseURL: URL(string: "https://api.example.com"), configuration: MockURLProtocol.configuration)
        _ = try await provider.request(Endpoint<Data>(.get, "/raw")).value
    }

    @Test(.mockNetwork(recording: "each"), arguments: [1, 2]) func each(number: Int) {}
}
