import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

/// A session of Apple's systems reads only one file, so a body of several parts is written to a temporary file. All systems test that.
@Suite("Multipart bodies in a temporary file", tenMinutes)
struct UploadFileTests {
    private let source = TemporaryFolder()
    private let folder = TemporaryFolder()
    private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func provider(_ middlewares: any Middleware...) -> DefaultAPIProvider {
        let transport = URLSessionTransport(configuration: .patient, delegateSession: nil, multipartDirectory: folder.url)
        return DefaultAPIProvider(transport: transport, middlewares: middlewares)
    }

    private func body() throws -> HTTPBody {
        let file = source.url("photo.jpg")
        try bytes.write(to: file)
        return .multipart([
            MultipartPart(name: "title", value: "Holidays"), MultipartPart(name: "photo", file: file, contentType: "image/jpeg"),
        ])
    }

    @Test("It is sent with its length and progress, and once more on a redirect, and then the file is removed")
    func success() async throws {
        let (names, progress, folder) = (Log<[String]>(), Log<TransferProgress>(), folder)
        let server = try LoopbackServer { request, connection in
            names.append((try? folder.names) ?? [])
            guard request.target == "/start" else { return connection.respond(body: "ok") }
            connection.respond("307 Temporary Redirect", headers: ["Location": "/end"])
        }
        let request = Endpoint<TextLines>(.put, .url(server.url, "/start"), body: try body()).onProgress { progress.append($0) }
        let (lines, response) = try await provider().request(request.withResponse()).value
        #expect(try await lines.all() == ["ok"])
        let sent = server.requests
        #expect(sent.map(\.target) == ["/start", "/end"])
        #expect(sent[0].body == sent[1].body && sent[0].headers["content-length"] == "\(sent[0].body.count)")
        #expect(sent[0].body.range(of: bytes) != nil && sent[0].body.suffix(4) == Data("--\r\n".utf8))
        #expect(progress.entries.map(\.bytesSent).max() == Int64(sent[0].body.count))
        #expect(names.entries.allSatisfy { $0.count == 1 && $0[0].hasSuffix(".upload") })
        #expect(try folder.names.isEmpty)
        #expect(response.metrics != nil)
        // The response has the request's own body, which still exists.
        #expect(response.request.bodyData == sent[0].body)
    }

    @Test("A body of one file is sent from that file")
    func oneFile() async throws {
        let (names, folder, file) = (Log<[String]?>(), folder, source.url("photo.jpg"))
        try bytes.write(to: file)
        let server = try LoopbackServer { _, connection in
            names.append(try? folder.names)
            connection.respond()
        }
        try await provider().request(Endpoint<Void>(.put, .url(server.url), body: .file(file, contentType: "a/b"))).value
        #expect(names.entries == [[]] && server.requests.map(\.body) == [bytes])
    }

    @Test("Other users of the system cannot read the file")
    func permissions() async throws {
        let (modes, folder) = (Log<Int?>(), folder)
        let server = try LoopbackServer { _, connection in
            let files = (try? folder.names) ?? []
            for file in files {
                modes.append(try? FileManager.default.attributesOfItem(atPath: folder.url(file).path)[.posixPermissions] as? Int)
            }
            connection.respond(body: "ok")
        }
        _ = try await provider().request(Endpoint<Void>(.put, .url(server.url), body: try body())).value
        #expect(modes.entries == [0o600])
    }

    @Test("A dispose removes the file")
    func disposed() async throws {
        let received = Signals<Void>()
        let server = try LoopbackServer { _, connection in
            received.send(())
            connection.waitUntilClosed()
        }
        let subscription = provider().request(Endpoint<Void>(.put, .url(server.url), body: try body())).subscribe { _ in }
        await received.next()
        subscription.dispose()
        #expect(try folder.names.isEmpty)
        await server.allClosed()
    }

    enum Failure: CaseIterable { case status, head, stream }

    @Test("After an error the file is removed, and the request of the error has the body of the request", arguments: Failure.allCases)
    func failed(_ failure: Failure) async throws {
        let server = try LoopbackServer { _, connection in
            switch failure {
            case .status: connection.respond("404 Not Found")
            case .head: break
            case .stream: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            }
        }
        let error = try await #require(throws: APIError.self) {
            for try await _ in try await provider().request(Endpoint<TextLines>(.put, .url(server.url), body: try body())).value {}
        }
        let request: PreparedRequest
        switch error {
        case .transport(let failed, _): request = failed
        default: request = try #require(error.response).request
        }
        #expect(request.bodyData == server.requests.first?.body)
        #expect(try folder.names.isEmpty)
    }

    @Test("A dispose while the file is written leaves no file behind")
    func disposedWhileWritten() async throws {
        let file = source.url("file")
        try Data("text".utf8).write(to: file)
        let parts = ["a", "b"].map { MultipartPart(name: $0, file: file, contentType: "a/b") }
        let request = Endpoint<Void>(.put, .url(try LoopbackServer.refusingURL()), body: .multipart(parts))
        // Puts a pipe in the place of the file, so that reading it waits.
        let waiting = ClosureMiddleware { request, next in
            unlink(file.path)
            #expect(mkfifo(file.path, 0o600) == 0)
            return next(request)
        }
        let subscription = provider(waiting).request(request).subscribe { _ in }
        #expect(await eventually { (try? folder.names.count) == 1 })
        subscription.dispose()
        #expect(try folder.names.isEmpty)
        // This end is open for reading as well, so that writing never fails.
        let pipe = open(file.path, O_RDWR)
        #expect(write(pipe, "texttext", 8) == 8)
        #if os(Linux)
        #expect(await eventually { FaultyFiles.openFiles(in: source.url).count == 1 && FaultyFiles.openFiles(in: folder.url).isEmpty })
        #endif
        close(pipe)
        #expect(try folder.names.isEmpty)
    }

    @Test("If the file cannot be written, the request is not sent, and the error says why")
    func noFolder() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let request = Endpoint<Void>(.put, .url(server.url), body: try body())
        try FileManager.default.removeItem(at: folder.url)
        let error = try await #require(throws: APIError.self) { try await provider().request(request).value }
        #expect(error.description.hasPrefix("The request was not sent: its body cannot be put together in a temporary file ("))
        #expect(server.requests.isEmpty)
    }
}
