import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderTransport
@testable import AsyncHTTPClientTransport

@Suite("The body of a request in chunks")
struct ChunkTests {
    private let folder = TemporaryFolder()

    @Test(
        "A body is sent whole, of pieces in memory and in files, however many chunks it takes",
        arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func sizes(size: Int) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let provider = DefaultAPIProvider(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = folder.url("file")
        try bytes.write(to: file)
        let bodies = [
            RequestBody(bytes), RequestBody([.file(file, count: size)]),
            RequestBody([.data(bytes.prefix(10)), .file(file, count: size), .data(Data()), .data(bytes.suffix(10))]),
        ]
        for body in bodies {
            try await provider.request(Endpoint<Void>(.put, "/").adapting { $0.body = body }).value
            let request = try #require(server.requests.last)
            #expect(request.body == (try body.data()))
            #expect(request.headers["content-length"] == "\(body.count)")
            #expect(request.headers["transfer-encoding"] == nil)
        }
    }
}
