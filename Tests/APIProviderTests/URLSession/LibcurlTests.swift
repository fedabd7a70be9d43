#if canImport(FoundationNetworking)
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

@Suite("Messages and quirks of libcurl", tenMinutes)
struct LibcurlTests {
    @Test("A 103 is not the response, even before a redirect without a Location")
    func earlyHints() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")
        }
        let provider = DefaultAPIProvider(configuration: .patient)
        let request = Endpoint<Data>(.get, .url(server.url)).validating { _ in }.withResponse()
        #expect(try await provider.request(request).value.response.statusCode == 302)
    }

    @Test("A body that comes before Foundation sees the end of the head is an error, also of a stream", arguments: [false, true])
    func bodyWithoutHead(isStreamed: Bool) async throws {
        let server = try LoopbackServer { _, connection in connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\r\nok") }
        let provider = DefaultAPIProvider(configuration: .patient)
        let whole = provider.request(Endpoint<Data>(.get, .url(server.url))).map { _ in }
        let stream = provider.request(Endpoint<ByteStream>(.get, .url(server.url))).map { _ in }
        let error = try await #require(throws: APIError.self) { try await (isStreamed ? stream : whole).value }
        #expect(error.urlError?.code == .cannotParseResponse)
    }

    @Test(
        "An error that libcurl describes in words alone gets the code of Apple's systems",
        arguments: [
            ("SSL certificate problem: certificate has expired", URLError.Code.serverCertificateHasBadDate),
            ("SSL certificate problem: certificate is not yet valid", .serverCertificateNotYetValid),
            ("SSL certificate problem: self-signed certificate", .serverCertificateUntrusted),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to example.com:443", .networkConnectionLost),
            ("OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0", .networkConnectionLost),
            ("Failed to connect to chunk.example.com:443 after 3 ms: Could not connect to server", .cannotConnectToHost),
            ("SSL: no alternative certificate subject name matches target hostname 'chunk.example.com'", .serverCertificateUntrusted),
            ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", .secureConnectionFailed),
            ("error adding trust anchors from file: /etc/ssl/certs/ca-certificates.crt", .serverCertificateHasUnknownRoot),
            ("Connection closed abruptly", .networkConnectionLost),
            ("end of response with 96 bytes missing", .networkConnectionLost),
            ("HTTP/2 stream 3 reset by server (error 0x8 CANCEL)", .networkConnectionLost),
            ("Error in the HTTP2 framing layer", .networkConnectionLost),
            ("Error receiving HTTP2 header: 100(A value or data field grew larger than allowed)", .dataLengthExceedsMaximum),
            ("HTTP request too large", .dataLengthExceedsMaximum),
            ("Failed writing header", .cannotParseResponse),
            ("Failure writing output to destination, passed 16 returned 0", .cannotParseResponse),
            ("Weird server reply", .cannotParseResponse),
            ("Multiple Location headers", .cannotParseResponse),
            ("Reject response due to 'chunked' not being the last Transfer-Encoding", .cannotDecodeContentData),
            ("Immediate connect fail for 192.0.2.1: Network is unreachable", .notConnectedToInternet),
            ("A sentence of next year", .unknown),
        ])
    func words(words: String, code: URLError.Code) async throws {
        let provider = DefaultAPIProvider(configuration: FailingProtocol.configuration)
        let request = Endpoint<Void>(.get, .url(example), headers: ["X-Words": words])
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.urlError?.code == code)
        #expect(error.urlError?.localizedDescription == words || code == .dataLengthExceedsMaximum)
    }

    private final class FailingProtocol: StubProtocol {
        override func startLoading() {
            fail(URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: request.value(forHTTPHeaderField: "X-Words") ?? ""]))
        }
    }
}
#endif
