import APIProvider
import AsyncHTTPClientTransport
import Foundation
import MockNetwork
import TestSupport
import Testing

@Suite("A recording of what AsyncHTTPClient gets", tenMinutes)
struct RecordingTests {
    @Test("A redirect, an upload and events are recorded, and replay without a server")
    func recording() async throws {
        let server = try LoopbackServer { request, connection in
            switch request.target {
            case "/old": connection.respond("302 Found", headers: ["Location": "/new"])
            case "/new": connection.respond(headers: ["Content-Type": "application/json"], body: "[1]")
            case "/upload": connection.respond(headers: ["Content-Type": "application/json"], body: "[\(request.body.count)]")
            default: connection.respond(headers: ["Content-Type": "text/event-stream"], body: "data: a\n\ndata: b\n\n")
            }
        }
        let folder = TemporaryFolder()
        func run() async throws -> [String] {
            let file = folder.url("Tests.swift").path
            return try await MockURLProtocol.withRecording("session", from: AsyncHTTPClientTransport(), filePath: file) {
                let provider = DefaultAPIProvider(baseURL: server.url, transport: MockTransport())
                let items = try await provider.request(Endpoint<[Int]>(.get, "/old")).value
                let sizes = try await provider.request(Endpoint<[Int]>(.post, "/upload", body: .data(Data(count: 300_000)))).value
                var events: [String] = []
                for try await event in try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value {
                    events.append(event.data)
                }
                return ["\(items) \(sizes)"] + events
            }
        }
        // No other test of this target has a recording.
        setenv("MOCK_NETWORK", "record", 1)
        let recorded = try await run()
        unsetenv("MOCK_NETWORK")
        #expect(recorded == ["[1] [300000]", "a", "b"])
        #expect(server.requests.map(\.target) == ["/old", "/new", "/upload", "/events"])
        #expect(try await run() == recorded)
        #expect(server.requests.count == 4)
    }
}
