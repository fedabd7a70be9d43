import APIProvider
import AsyncHTTPClientTransport
import Foundation
import TestSupport
import Testing

@Suite("Answers with which Foundation or AsyncHTTPClient ends the process on Linux", tenMinutes)
struct ProcessEndingAnswersTests {
    private static let lost = "127.0.0.1 closed the connection before the response was whole; a second try may succeed (URLError -1005)."
    private static let noHTTP = "127.0.0.1:PORT did not answer in valid HTTP; is it a web server, and the scheme right? (URLError -1017)."
    private static let statuses = ["000", "001", "010", "099"]
    private static let fields = ["", "Content-Length: 0\r\n", "Content-Length: 2\r\n", "Content-Encoding: gzip\r\n"]

    @Test(
        "They are errors or values here",
        arguments: [
            ("HTTP/1.1 200 OK\r\nX-A", lost),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-A: b\r\n\r\n", "body"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", lost),
            (
                "HTTP/1.1 302 Found\r\nLocation: //[::1]:1/\r\nContent-Length: 0\r\n\r\n",
                "no connection could be made; is a server listening at ::1:1? (URLError -1004)."
            ),
        ])
    func answer(text: String, end: String) async throws {
        let server = try LoopbackServer([.readRequest, .send(text)])
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
        let port = "\(server.url.port ?? 0)"
        do {
            #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == end)
        } catch {
            #expect("\(error)".hasSuffix(" failed: \(end.replacingOccurrences(of: "PORT", with: port))"))
        }
    }

    @Test("A status below 100 is an error", arguments: statuses, fields)
    func status(_ status: String, field: String) async throws {
        try await answer(text: "HTTP/1.1 \(status) x\r\n\(field)\r\nok", end: Self.noHTTP)
    }
}
