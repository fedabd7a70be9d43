import APIProvider
import AsyncHTTPClientTransport
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Random answers", tenMinutes)
struct RandomAnswersTests {
    private static let gzip = Data(base64Encoded: "H4sIAAAAAAACA+3BAQ0AAADCoKzvX8IcbkABAAAAAAAAAADAvwGX1H5GECcAAA==") ?? Data()
    private static let answers = [
        Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8),
        Data("HTTP/1.1 200 OK\r\n\r\nhello".utf8),
        Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: b\r\n\r\n".utf8),
        Data("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n".utf8),
        Data("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello".utf8),
        Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n".utf8) + gzip,
    ]

    /// One of the answers, changed at some places.
    private static func answer(_ generator: inout SeededGenerator) -> Data {
        var bytes = Array(answers.randomElement(using: &generator) ?? Data())
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let start = Int.random(in: 0..<max(bytes.count, 1), using: &generator)
            let part = start..<min(start + Int.random(in: 1...8, using: &generator), bytes.count)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where !part.isEmpty: bytes[start] = UInt8.random(in: 0...255, using: &generator)
            // Most faults are those of numbers.
            case 1, 2:
                let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
                if let digit = digits.randomElement(using: &generator) { bytes[digit] = UInt8.random(in: 48...57, using: &generator) }
            case 3: bytes.removeSubrange(part)
            default: bytes.insert(contentsOf: bytes[part], at: start)
            }
        }
        return Data(bytes)
    }

    @Test("A server that sends anything gets an error or a value of it, by GET and HEAD, and ends no process")
    func anything() async throws {
        let server = try LoopbackServer { request, connection in
            var generator = SeededGenerator(seed: UInt64(request.target.dropFirst()) ?? 0)
            connection.send(Self.answer(&generator))
        }
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
        for seed in 0..<rounds(500) {
            let request = Endpoint<Data>(seed % 4 == 0 ? .head : .get, .url(server.url, "/\(seed)"), timeoutInterval: 600)
            _ = try? await provider.request(request).value
        }
        await server.allClosed()
        #expect(Set(server.requests.map(\.target)).count == rounds(500))
    }
}
