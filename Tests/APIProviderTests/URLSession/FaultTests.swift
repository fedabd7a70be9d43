import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("What a bad network looks like", .serialized, tenMinutes)
struct FaultTests {
    @Test(
        "Each fault has its error and its sentence, and leaves no connection behind. The server…",
        arguments: Fault.all.filter { isNight || !$0.isSlow })
    func fault(_ fault: Fault) async throws {
        let (url, result) = try await fault.run()
        // Which code a fault has on Apple's systems is documented for some and measured for none.
        #if canImport(FoundationNetworking)
        // A system without certificates of authorities, as a small container is, makes no TLS connection at all.
        let outcomes = fault.isSecure && !Self.hasAuthorities ? [Self.noAuthorities] : TestedTransport.outcomes(of: fault)
        #expect(outcomes.contains { fault.has($0, as: result, of: url) }, "\(result)")
        #else
        if case .failure(let error) = result { #expect(error is APIError, "\(url)") }
        #endif
    }

    #if canImport(FoundationNetworking)
    private static let hasAuthorities = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        .contains(where: FileManager.default.fileExists)

    private static let noAuthorities = Fault.Outcome.transport(
        "serverCertificateHasUnknownRoot", -1203,
        "no authority that this system knows has signed the certificate of HOST; on Linux, is ca-certificates installed?")
    #endif

    @Test(
        "A response that never ends fails after the configuration's timeoutIntervalForResource",
        arguments: [
            [.send("HTTP/1.1 200 OK\r\n\r\n"), .drip(String(repeating: "a", count: 1000))],
            [
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"),
                .drip(String(repeating: "X-A: b\r\n", count: 100)),
            ],
        ] as [[Step]])
    func resourceTimeout(_ response: [Step]) async throws {
        let server = try LoopbackServer([.readRequest] + response)
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForResource = 0.3
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<Data>(.get, .url(server.url))).value
        }
        #expect(error.urlError?.code == .timedOut)
        await server.allClosed()
    }

    @Test("The response to a body that the server does not read is the answer, or an error that says so if the reset comes first")
    func unreadBody() async throws {
        // The system resets the connection after the response if a server closes it without reading all.
        let server = try LoopbackServer([.readHead, .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"), .reset])
        let body = HTTPBody.data(Data(count: 20_000_000), contentType: "application/octet-stream")
        for _ in 0..<rounds(2) {
            let error = try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(
                    Endpoint<String>(.post, .url(server.url), body: body)
                ).value
            }
            #expect(error.statusCode == 413 || "\(error)".contains("does it take a body of 20000000 bytes?"), "\(error)")
        }
    }

    @Test("An IPv6 address is requested, or the sentence says that Foundation does not take it")
    func ipv6() async throws {
        let url = try #require(URL(string: "http://[::1]:1/"))
        let error = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(Endpoint<String>(.get, .url(url)))
                .value
        }
        let sentence =
            "Foundation on Linux does not accept an IPv6 address as the host; use a name that leads to it, or another transport "
            + "(URLError -1000)."
        #expect(error.urlError?.code == .cannotConnectToHost || "\(error)".hasSuffix(sentence))
    }

    @Test("Headers are found in any case, those of one name are joined, and UTF-8 stays as it is")
    func headers() async throws {
        let server = try LoopbackServer([
            .readRequest,
            .send("HTTP/1.1 404 Not Found\r\ncontent-LENGTH: 2\r\nX-ONE: 1\r\nX-ONE: 2\r\nX-Two: 1\r\nx-two: 2\r\nX-Name: né\r\n\r\nno"),
        ])
        let error = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(
                Endpoint<Void>(.get, .url(server.url))
            ).value
        }
        let response = try #require(error.response)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "2")
        #expect(response.value(forHTTPHeaderField: "x-one") == "1, 2")
        #expect(response.value(forHTTPHeaderField: "X-TWO") == "1, 2")
        #expect(response.value(forHTTPHeaderField: "x-name") == "né")
    }
}
