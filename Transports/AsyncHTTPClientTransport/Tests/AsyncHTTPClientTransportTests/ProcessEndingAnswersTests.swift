import APIProvider
import AsyncHTTPClientTransport
import Foundation
import TestSupport
import Testing

@Suite("Answers with which Foundation ends the process on Linux", tenMinutes)
struct ProcessEndingAnswersTests {
    @Test(
        "They are errors or values here",
        arguments: [
            (
                "HTTP/1.1 200 OK\r\nX-A",
                "127.0.0.1 closed the connection before the response was whole; a second try may succeed (URLError -1005)."
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-A: b\r\n\r\n", "body"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
                "127.0.0.1 closed the connection before the response was whole; a second try may succeed (URLError -1005)."
            ),
            (
                "HTTP/1.1 302 Found\r\nLocation: //[::1]:1/\r\nContent-Length: 0\r\n\r\n",
                "no connection could be made; is a server listening at ::1:1? (URLError -1004)."
            ),
        ])
    func answer(text: String, end: String) async throws {
        let server = try LoopbackServer([.readRequest, .send(text)])
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
        do {
            #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == end)
        } catch {
            #expect("\(error)".hasSuffix(" failed: \(end)"))
        }
    }
}
