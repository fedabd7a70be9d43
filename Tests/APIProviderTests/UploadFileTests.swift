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
            transport: URLSessionTransport(configuration: .patient, callersSession: nil, partsFolder: folder.url))
    }

    private func request(to server: LoopbackServer) throws -> Endpoint<String> {
        let file = source.url("photo.jpg")
        try bytes.write(to: file)
        let parts = [MultipartPart(name: "title", value: "Holidays"), MultipartPart(name: "photo", file: file, contentType: "image/jpeg")]
        return Endpoint<String>(.put, .url(server.url, "/start"), body: .multipart(parts))
    }

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
        let stream = try #require(response.request.httpBodyStream)
        stream.open()
        var byte: UInt8 = 0
        #expect(stream.read(&byte, maxLength: 1) == 1)
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
