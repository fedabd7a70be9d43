import APIProvider
import Foundation
import TestSupport
import Testing

/// A server may close a connection that was kept open just when the next request comes.
@Suite("A kept connection that closes during a request", tenMinutes)
struct KeptConnectionTests {
    private let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))
    private let folder = TemporaryFolder()

    enum Body { case json, file, parts }

    private func request(_ method: HTTPMethod, _ body: Body, to server: LoopbackServer) throws -> Endpoint<String> {
        let text = String(repeating: "the body ", count: 20_000)
        let file = folder.url("file")
        try Data(text.utf8).write(to: file)
        let httpBody: HTTPBody =
            switch body {
            case .json: .json(text)
            case .file: .file(file, contentType: "text/plain")
            case .parts: .multipart(["a", "b"].map { MultipartPart(name: $0, file: file, contentType: "text/plain") })
            }
        return Endpoint<String>(method, .url(server.url), body: httpBody)
    }

    @Test("A request that may be sent again is sent again, with its whole body", arguments: [Body.json, .file, .parts])
    func sentAgain(_ body: Body) async throws {
        let bodies = Log<Data>()
        // It closes the connection with the first body, and answers each later one with the same body.
        let server = try LoopbackServer(connected: { connection in
            while let request = connection.readRequest() {
                if !request.body.isEmpty { bodies.append(request.body) }
                if bodies.count == 1 { return }
                connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n".utf8) + request.body)
            }
        })
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "")
        let progress = Log<TransferProgress>()
        let text = try await provider.request(try request(.put, body, to: server).onProgress { progress.append($0) }).value
        #expect(bodies.entries == [Data(text.utf8), Data(text.utf8)])
        #expect(server.requests.count == 3 && server.requests[2].headers == server.requests[1].headers)
        #expect(progress.entries.last?.bytesSent == Int64(text.utf8.count))
        #expect(progress.entries.last?.bytesToSend == Int64(text.utf8.count))
    }

    enum End: CaseIterable { case inTheBody, afterTheBody, afterWhichNobodyListens }

    /// The error is not that of a request that was never sent, which `RetryMiddleware` would send again.
    @Test(
        "A request that may not be sent again fails at once, and nothing of its body is sent again",
        arguments: [(HTTPMethod.post, Body.json), (.patch, .file), (.post, .parts)], End.allCases)
    func notSentAgain(_ request: (method: HTTPMethod, body: Body), _ end: End) async throws {
        let (connections, sentAgain) = (Log<Void>(), Log<Data>())
        let maximum = end == .afterWhichNobodyListens ? 1 : .max
        let server = try LoopbackServer(
            maximumConnections: maximum,
            connected: { connection in
                connections.append(())
                if connections.count == 1 { return answerOneAndDropTheNext(connection, end) }
                sentAgain.append(connection.readHead()?.bodyStart ?? Data())
                while let bytes = connection.readSome() { sentAgain.append(bytes) }
            })
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "")
        let request = try self.request(request.method, request.body, to: server)
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.urlError?.code == .networkConnectionLost, "\(error)")
        await server.allClosed()
        #expect(sentAgain.entries.allSatisfy { $0.isEmpty })
    }

    @Test(
        "A POST without a body reaches a server once",
        arguments: [HTTPMethod.post, .patch, "LOCK"], [nil, HTTPBody.data(Data(), contentType: "text/plain")])
    func withoutBody(_ method: HTTPMethod, _ body: HTTPBody?) async throws {
        let server = try LoopbackServer(connected: { connection in
            while let request = connection.readRequest(), request.method == "GET" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        })
        for _ in 0..<3 {
            #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "")
            let request = Endpoint<String>(method, .url(server.url), body: body)
            let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
            #expect(error.urlError?.code == .networkConnectionLost, "\(error)")
        }
        #expect(server.requests.filter { $0.method == method.rawValue }.count == 3)
    }
}

/// Answers a request, and closes the connection under the next.
private func answerOneAndDropTheNext(_ connection: Connection, _ end: KeptConnectionTests.End) {
    connection.readHead()
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    guard let (head, start) = connection.readHead() else { return }
    let length = head.headers["content-length"].flatMap { Int($0) }
    var body = start
    while end == .inTheBody ? body.isEmpty : length.map({ body.count < $0 }) ?? (body.suffix(5) != Data("0\r\n\r\n".utf8)) {
        guard let bytes = connection.readSome() else { return }
        body += bytes
    }
}
