import APIProvider
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server may close a connection that was kept open just when the next request comes.
@Suite("A connection that was kept open and is closed under a request", tenMinutes)
struct KeptConnectionTests {
    private let transport = TestedTransport(configuration: .patient)
    private let folder = TemporaryFolder()

    enum Body: CaseIterable { case json, file, parts, stream }

    private func request(_ method: HTTPMethod, _ body: Body, to server: LoopbackServer) throws -> any APIRequest<String> {
        let text = "the body"
        let file = folder.url("file")
        try Data(text.utf8).write(to: file)
        switch body {
        case .json: return Endpoint<String>(method, .url(server.url), body: .json(text))
        case .file: return Endpoint<String>(method, .url(server.url), body: .file(file, contentType: "text/plain"))
        case .parts:
            let parts = ["a", "b"].map { MultipartPart(name: $0, file: file, contentType: "text/plain") }
            return Endpoint<String>(method, .url(server.url), body: .multipart(parts))
        case .stream:
            let length = "\(text.utf8.count)"
            return Endpoint<String>(method, .url(server.url), headers: ["Content-Length": length])
                .adapting { $0.httpBodyStream = InputStream(data: Data(text.utf8)) }
        }
    }

    /// The server keeps connections open, but closes the one on which the first body comes. It answers each later body with the same.
    private func server() throws -> LoopbackServer {
        let bodies = Log<Void>()
        return try LoopbackServer(connected: { connection in
            while let request = connection.readRequest() {
                if !request.body.isEmpty { bodies.append(()) }
                if !request.body.isEmpty, bodies.count == 1 { return }
                let body = String(decoding: request.body, as: UTF8.self)
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        })
    }

    @Test("A request that may be sent again, is: with the whole of its body", arguments: [Body.json, .file, .parts])
    func sentAgain(_ body: Body) async throws {
        let server = try server()
        let provider = DefaultAPIProvider(transport: transport)
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "")
        let text = try await provider.request(try request(.put, body, to: server)).value
        #expect(server.requests.map(\.body) == [Data(), Data(text.utf8), Data(text.utf8)])
        #expect(server.requests[2].headers == server.requests[1].headers)
    }

    @Test(
        "The server may have done what another one asked for, which fails at once",
        arguments: [(HTTPMethod.post, Body.json), (.patch, .file), (.post, .parts), (.put, .stream)])
    func error(_ method: HTTPMethod, _ body: Body) async throws {
        let server = try server()
        let provider = DefaultAPIProvider(transport: transport)
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "")
        let request = try request(method, body, to: server)
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.urlError?.code == .networkConnectionLost, "\(error)")
        #expect(server.requests.filter { !$0.body.isEmpty }.count == 1)
    }
}
