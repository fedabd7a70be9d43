import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Uploads over the network")
struct UploadTests {
    private let folder = TemporaryFolder()
    private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private func file() throws -> URL {
        let file = folder.url("photo.jpg")
        try bytes.write(to: file)
        return file
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A body in memory is sent from where it is", .longComputing)
    func inMemory() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(connected: { connection in
                guard let (head, start) = connection.readHead() else { return }
                var rest = (Int(head.headers["content-length"] ?? "") ?? 0) - start.count
                while rest > 0, let bytes = connection.readSome() { rest -= bytes.count }
                connection.respond()
            })
            let body = HTTPBody.data(Data(repeating: 1, count: 100_000_000), contentType: "application/octet-stream")
            let before = try residentKilobytes()
            try await DefaultAPIProvider(configuration: .patient).request(Endpoint<Void>(.put, .url(server.url), body: body)).value
            #expect(try peakKilobytes() - before < 50_000)
        }
    }
    #endif

    @Test("A file, also through a link, is sent as it is, with its length, its type and progress", arguments: [true, false])
    func sendsFile(isLink: Bool) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let (log, link) = (Log<TransferProgress>(), folder.url("link"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: try file())
        let body = HTTPBody.file(isLink ? link : try file(), contentType: "image/jpeg")
        try await provider.request(Endpoint<Void>(.put, .url(server.url), body: body).onProgress { log.append($0) }).value
        let received = try #require(server.requests.first)
        #expect(received.body == bytes)
        #expect(received.headers["content-length"] == "300000")
        #expect(received.headers["content-type"] == "image/jpeg")
        #expect(log.entries.contains { $0.bytesSent == 300_000 && $0.bytesToSend == 300_000 })
    }

    @Test("A multipart body has the text between the files, and its whole length")
    func sendsParts() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let parts = [
            MultipartPart(name: "title", value: "Holidays"), MultipartPart(name: "photo", file: try file(), contentType: "image/jpeg"),
        ]
        try await provider.request(Endpoint<Void>(.post, .url(server.url), body: .multipart(parts))).value
        let received = try #require(server.requests.first)
        #expect(received.headers["content-length"] == "\(received.body.count)")
        #expect(received.body.range(of: bytes) != nil)
        #expect(received.body.range(of: Data("name=\"title\"\r\n\r\nHolidays\r\n--".utf8)) != nil)
        #expect(received.body.suffix(4) == Data("--\r\n".utf8))
    }

    @Test("A redirect that keeps the body sends the file once more", arguments: ["307 Temporary Redirect", "308 Permanent Redirect"])
    func redirect(status: String) async throws {
        let server = try LoopbackServer { request, connection in
            if request.target == "/new" { connection.respond() } else { connection.respond(status, headers: ["Location": "/new"]) }
        }
        try await provider.request(Endpoint<Void>(.put, .url(server.url), body: .file(try file(), contentType: "a/b"))).value
        #expect(server.requests.map(\.target) == ["/", "/new"])
        #expect(server.requests.last?.body == bytes)
    }

    @Test("A body that is set in Foundation's request is not sent, and the error says where to set it")
    func foundationBody() async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: String(decoding: request.body, as: UTF8.self)) }
        let request = Endpoint<String>(.put, .url(server.url), body: .data(Data("first".utf8), contentType: "a/b"))
        let setBody: @Sendable (inout PreparedRequest) -> Void = { $0.urlRequest.httpBody = Data("second".utf8) }
        let setStream: @Sendable (inout PreparedRequest) -> Void = { $0.urlRequest.httpBodyStream = InputStream(data: Data("second".utf8)) }
        var changed = PreparedRequest(.put, server.url)
        setStream(&changed)
        let transport = TestedTransport(configuration: .patient)
        let singles = [setBody, setStream].map { provider.request(request.adapting($0).map { _ in }) }
        for single in singles + [transport.send(changed).map { _ in }] {
            let error = try await #require(throws: APIError.self) { try await single.value }
            #expect(
                error.description.contains("its body was set in urlRequest, where it is not sent; set the body of the PreparedRequest."))
        }
        #expect(try await provider.request(request.adapting { $0.body = RequestBody(Data("third".utf8)) }).value == "third")
        #expect(server.requests.count == 1)
    }

    @Test("A file that becomes shorter before it is sent, or while it is sent, is an error that says so")
    func shorterFile() async throws {
        let file = try file()
        let reason = "the file \(file.path) has become shorter since the request was made"
        let server = try LoopbackServer(connected: { connection in
            connection.readHead()
            truncate(file.path, 1_000_000)
            connection.waitUntilClosed()
        })
        let request = Endpoint<Void>(.put, .url(server.url), body: .file(file, contentType: "a/b"))
        let before = try await #require(throws: APIError.self) {
            try await provider.request(request.adapting { _ in truncate(file.path, 50_000) }).value
        }
        #expect("\(before)" == "The request was not sent: its body cannot be read (\(reason)).")

        #if canImport(FoundationNetworking)
        // The file is longer than what the system buffers for a server that does not read.
        truncate(file.path, 300_000_000)
        let during = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect("\(during)" == "PUT \(server.url) failed: \(reason).")
        #endif
        await server.allClosed()
    }
}
