import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

private struct ItemRequest: APIRequest {
    let id: Int
    let language: String

    var endpoint: Endpoint<Item> { Endpoint(.get, "/items/\(id)", query: ["lang": language]) }
}

/// `Tests/Weight/way` counts what the second and the third test enter and the first does not.
@Suite("The way of a GET", tenMinutes)
struct WayOfAGETTests {
    @Test("A provider is made without a request")
    func provider() throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: #"{"id":1,"name":"a"}"#) }
        _ = DefaultAPIProvider(baseURL: server.url, configuration: .patient)
        #expect(server.requests.isEmpty)
    }

    @Test("A GET goes to the server, and its JSON is the value")
    func get() async throws {
        let server = try LoopbackServer { _, connection in
            connection.respond(headers: ["Content-Type": "application/json"], body: #"{"id":1,"name":"a"}"#)
        }
        let provider = DefaultAPIProvider(baseURL: server.url, configuration: .patient)
        #expect(try await provider.request(ItemRequest(id: 1, language: "en")).value == Item(id: 1, name: "a"))
        #expect(server.requests.map(\.target) == ["/items/1?lang=en"])
    }

    @Test("A 404 fails with an error that names the request and the status")
    func notFound() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("404 Not Found", body: "no item") }
        let provider = DefaultAPIProvider(baseURL: server.url, configuration: .patient)
        let error = await #expect(throws: APIError.self) { try await provider.request(ItemRequest(id: 1, language: "en")).value }
        let text = try #require(error).description
        #expect(text.hasSuffix("/items/1?lang=… failed: 404 Not Found (7 bytes)."), "\(text)")
    }
}
