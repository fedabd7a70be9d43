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
    @Test("No body is copied in memory, neither of files nor one that is in memory")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(connected: { connection in
                guard let (head, start) = connection.readHead() else { return }
                var rest = (Int(head.headers["content-length"] ?? "") ?? 0) - start.count
                while rest > 0, let bytes = connection.readSome() { rest -= bytes.count }
                connection.respond()
            })
            let folder = TemporaryFolder()
            try Data().write(to: folder.url("file"))
            truncate(folder.url("file").path, 50_000_000)
            let part = MultipartPart(name: "a", file: folder.url("file"), contentType: "a/b")
            // What a process takes for its first request is no copy of a body.
            try await DefaultAPIProvider(configuration: .patient).request(Endpoint<Void>(.put, .url(server.url))).value
            for body in [{ .multipart([part, part]) }, { .data(Data(repeating: 1, count: 100_000_000), contentType: "a/b") }]
                as [() -> HTTPBody]
            {
                let request = Endpoint<Void>(.put, .url(server.url), body: body())
                let before = try residentKilobytes()
                try await DefaultAPIProvider(configuration: .patient).request(request).value
                #expect(try peakKilobytes() - before < 50_000)
            }
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

    @Test("A redirect that keeps the body sends the file once more")
    func redirect() async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/" else { return connection.respond() }
            connection.respond("307 Temporary Redirect", headers: ["Location": "/new"])
        }
        try await provider.request(Endpoint<Void>(.put, .url(server.url), body: .file(try file(), contentType: "a/b"))).value
        #expect(server.requests.map(\.target) == ["/", "/new"])
        #expect(server.requests.last?.body == bytes)
    }

    @Test("A body that is set in Foundation's request is not sent, and the error says where to set it")
    func foundationBody() async throws {
        let byEndpoint = provider.request(Endpoint<Void>(.put, .url(example)).adapting { $0.urlRequest.httpBody = Data() })
        var request = PreparedRequest(.put, example)
        request.urlRequest.httpBodyStream = InputStream(data: Data())
        for single in [byEndpoint, TestedTransport(configuration: .patient).send(request).map { _ in }] {
            let error = try await #require(throws: APIError.self) { try await single.value }
            #expect(
                error.description.contains("its body was set in urlRequest, where it is not sent; set the body of the PreparedRequest."))
        }
    }

    @Test("If a file is truncated before or during an upload, the error says so")
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
