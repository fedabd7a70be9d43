import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// A session of Apple's reads a single file alone, so a body of several parts is put together in one. The same is tested on every system.
@Suite("A body with files that is put together in a temporary file", tenMinutes)
struct UploadFileTests {
    private let source = TemporaryFolder()
    private let folder = TemporaryFolder()
    private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private var provider: DefaultAPIProvider {
        DefaultAPIProvider(
            transport: URLSessionTransport(configuration: .patient, delegateSession: nil, multipartDirectory: folder.url))
    }

    private func body() throws -> HTTPBody {
        let file = source.url("photo.jpg")
        try bytes.write(to: file)
        return .multipart([
            MultipartPart(name: "title", value: "Holidays"), MultipartPart(name: "photo", file: file, contentType: "image/jpeg"),
        ])
    }

    private func request(to server: LoopbackServer) throws -> Endpoint<String> {
        Endpoint(.put, .url(server.url, "/start"), body: try body())
    }

    private func lines(of server: LoopbackServer) throws -> Endpoint<TextLines> { Endpoint(.put, .url(server.url), body: try body()) }

    @Test("It is sent as it is otherwise, also once more on a redirect, and then the file is gone")
    func success() async throws {
        let namesMeanwhile = Log<[String]>()
        let folder = folder
        let server = try LoopbackServer { request, connection in
            namesMeanwhile.append((try? folder.names) ?? [])
            guard request.target == "/start" else { return connection.respond(body: "ok") }
            connection.respond("307 Temporary Redirect", headers: ["Location": "/end"])
        }
        let request = try request(to: server)
        let progress = Log<TransferProgress>()
        let (text, response) = try await provider.request(request.onProgress { progress.append($0) }.withResponse()).value
        #expect(text == "ok")
        let sent = server.requests
        #expect(sent.map(\.target) == ["/start", "/end"])
        #expect(sent[0].body == sent[1].body && sent[0].headers["content-length"] == "\(sent[0].body.count)")
        #expect(sent[0].body.range(of: bytes) != nil && sent[0].body.suffix(4) == Data("--\r\n".utf8))
        #expect(progress.entries.last?.bytesSent == Int64(sent[0].body.count))
        #expect(namesMeanwhile.entries.allSatisfy { $0.count == 1 && $0[0].hasSuffix(".upload") })
        #expect(try folder.names.isEmpty)
        // The response has the request's own body, which is there still.
        #expect(response.request.bodyData == sent[0].body)
    }

    enum End: CaseIterable { case refused, failed, disposed }

    @Test("The file is gone after a refusal, a failure and a dispose", arguments: End.allCases)
    func gone(_ end: End) async throws {
        let (received, ended) = (Signals<Void>(), Signals<Void>())
        let server = try LoopbackServer { _, connection in
            received.send(())
            switch end {
            case .refused: connection.respond("404 Not Found")
            case .failed: break
            case .disposed: connection.waitUntilClosed()
            }
        }
        let subscription = provider.request(try request(to: server)).subscribe { _ in ended.send(()) }
        #expect(await received.next() != nil)
        if end == .disposed { subscription.dispose() } else { #expect(await ended.next() != nil) }
        #expect(try folder.names.isEmpty)
        await server.allClosed()
    }

    @Test("A response is read while it comes, and has metrics")
    func streamed() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "one\ntwo\n") }
        let (lines, response) = try await provider.request(try lines(of: server).withResponse()).value
        var all: [String] = []
        for try await line in lines { all.append(line) }
        #expect(all == ["one", "two"])
        #expect(response.metrics != nil)
        #expect(try folder.names.isEmpty)
    }

    /// Puts a pipe in the place of a file, so that reading it waits.
    private struct Waiting: Middleware {
        let file: URL

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            unlink(file.path)
            #expect(mkfifo(file.path, 0o600) == 0)
            return next(request)
        }
    }

    @Test("A dispose while the file is written leaves no file behind")
    func disposedWhileWritten() async throws {
        let file = source.url("file")
        try Data("text".utf8).write(to: file)
        let transport = URLSessionTransport(configuration: .patient, delegateSession: nil, multipartDirectory: folder.url)
        let provider = DefaultAPIProvider(transport: transport, middlewares: [Waiting(file: file)])
        let parts = ["a", "b"].map { MultipartPart(name: $0, file: file, contentType: "a/b") }
        let request = Endpoint<Void>(.put, .url(try LoopbackServer.refusingURL()), body: .multipart(parts))
        let subscription = provider.request(request).subscribe { _ in }
        #expect(await eventually { (try? folder.names.count) == 1 })
        subscription.dispose()
        #expect(try folder.names.isEmpty)
        // All that is to be read. This end stays open to read as well, so that writing never fails.
        let pipe = open(file.path, O_RDWR)
        #expect(write(pipe, "texttext", 8) == 8)
        #if os(Linux)
        #expect(await eventually { FaultyFiles.openFiles(in: source.url).count == 1 && FaultyFiles.openFiles(in: folder.url).isEmpty })
        #endif
        close(pipe)
        #expect(try folder.names.isEmpty)
    }

    enum Failure: CaseIterable { case status, head, stream }

    @Test("The request of an error has the body of the request", arguments: Failure.allCases)
    func bodyOfError(_ failure: Failure) async throws {
        let server = try LoopbackServer { _, connection in
            switch failure {
            case .status: connection.respond("404 Not Found")
            case .head: break
            case .stream: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            }
        }
        let error = try await #require(throws: APIError.self) {
            for try await _ in try await provider.request(try lines(of: server)).value {}
        }
        let failed: PreparedRequest
        switch error {
        case .transport(let request, _): failed = request
        default: failed = try #require(error.response).request
        }
        #expect(failed.bodyData == server.requests.first?.body)
        #expect(failed.curlCommand(redacting: .none).contains(source.url("photo.jpg").path))
    }

    @Test("Where no file can be written, the request is not sent, and says why")
    func noFolder() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let request = try request(to: server)
        try FileManager.default.removeItem(at: folder.url)
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.description.hasPrefix("The request was not sent: its body cannot be put together in a temporary file ("))
        #expect(server.requests.isEmpty)
    }
}
