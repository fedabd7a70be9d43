import APIProvider
import AsyncHTTPClientTransport
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Compressed responses", tenMinutes)
struct CompressionTests {
    private let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())

    @Test("Only gzip is asked for, unless the request asks for something else")
    func asked() async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: request.headers["accept-encoding"] ?? "none") }
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "gzip")
        let own = Endpoint<String>(.get, .url(server.url), headers: ["Accept-Encoding": "br"])
        #expect(try await provider.request(own).value == "br")
    }

    @Test(
        "A body is decoded or refused, and never given as it is if it is compressed",
        arguments: [
            ("gzip", "o"), ("gzip, aws-chunked", "o"), ("aws-chunked, gzip", nil), ("identity, gzip", nil), ("gzip, gzip", nil),
        ] as [(String, String?)])
    func codings(field: String, text: String?) async throws {
        let body = try #require(Data(base64Encoded: "H4sIAAAAAAACA8sHAESTDw8BAAAA"))
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(field)\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(body)
        }
        let value = try? await provider.request(Endpoint<Data>(.get, .url(server.url))).value
        #expect(value.map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test("Without a limit, 300 MB of gzip go to a file and through a stream, and more than 256 MB do not go to memory", .longComputing)
    func large() async throws {
        let gzip = Process()
        (gzip.executableURL, gzip.arguments) = (URL(fileURLWithPath: "/bin/sh"), ["-c", "head -c 300000000 /dev/zero | gzip -1"])
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let body = output.fileHandleForReading.readDataToEndOfFile()
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(body)
        }
        let folder = TemporaryFolder()
        let file = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: folder.url("file"))).value
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int == 300_000_000)
        var count = 0
        for try await bytes in try await provider.request(Endpoint<ByteStream>(.get, .url(server.url))).value { count += bytes.count }
        #expect(count == 300_000_000)
        let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<Data>(.get, .url(server.url))).value }
        #expect(error?.urlError?.code == .dataLengthExceedsMaximum)
    }

    @Test("A connection is kept after a response that names gzip and has no body")
    func kept() async throws {
        let connections = Log<Void>()
        let server = try LoopbackServer(connected: { connection in
            connections.append(())
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n")
            }
        })
        for _ in 0..<3 { #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "") }
        #expect(connections.count == 1)
    }

    @Test("Responses of nginx", .enabled(if: Nginx.isInstalled, "nginx is not installed"))
    func nginx() async throws {
        let nginx = try await Nginx.started()
        let text = Endpoint<String>(.get, .url(nginx.url, "/text"))
        let (body, response) = try await provider.request(text.withResponse()).value
        #expect(body == Nginx.text)
        #expect(response.headers["Content-Encoding"] == "gzip")
        let tag = try #require(response.headers["ETag"])

        let head = Endpoint<Data>(.head, .url(nginx.url, "/text")).withResponse()
        let (noBody, headResponse) = try await provider.request(head).value
        #expect(noBody.isEmpty)
        #expect(headResponse.headers["Content-Encoding"] == "gzip")

        for (path, status) in [("/text", 304), ("/empty", 200), ("/nothing", 204), ("/away", 304), ("/busy", 503)] {
            for method in [.get, .head] as [HTTPMethod] {
                let request = Endpoint<Data>(method, .url(nginx.url, RequestPath(path)), headers: ["If-None-Match": tag])
                let (_, response) = try await provider.request(request.validating { _ in }.withResponse()).value
                #expect(response.statusCode == status, "\(method.rawValue) \(path)")
            }
        }
    }
}
