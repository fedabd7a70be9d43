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
        switch result {
        case .failure(let error): #expect(error is APIError, "\(url)")
        case .success(let value):
            let isRight = fault.has(fault.outcome, as: result, of: url) || ["", "ok"].contains(value) && !fault.breaksOff
            // The classic loader of CFNetwork is known to take such a body for a whole one (expo/expo#49324).
            let isKnown = fault.name == "closes it between two chunks"
            withKnownIssue(isIntermittent: true) {
                #expect(isRight, "\(value)")
            } when: {
                isKnown
            }
        }
        #endif
    }

    #if canImport(FoundationNetworking)
    private static let hasAuthorities = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        .contains(where: FileManager.default.fileExists)

    private static let noAuthorities = Fault.Outcome.transport(
        "serverCertificateHasUnknownRoot", -1203,
        "no authority that this system knows has signed the certificate of HOST; on Linux, is ca-certificates installed?")
    #endif

    private func error(of request: Endpoint<Data>, _ configuration: URLSessionConfiguration = .patient) async throws -> APIError {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        return try await #require(throws: APIError.self) { try await provider.request(request).value }
    }

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
        #expect(try await error(of: Endpoint(.get, .url(server.url)), configuration).urlError?.code == .timedOut)
        await server.allClosed()
    }

    @Test("If the server does not read the body, its response is the answer, or the error says so if a reset comes first")
    func unreadBody() async throws {
        // The system resets the connection after the response if a server closes it without reading all.
        let server = try LoopbackServer([.readHead, .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"), .reset])
        let body = HTTPBody.data(Data(count: 20_000_000), contentType: "application/octet-stream")
        for _ in 0..<rounds(2) {
            let error = try await error(of: Endpoint(.post, .url(server.url), body: body))
            #expect(error.statusCode == 413 || "\(error)".contains("does it take a body of 20000000 bytes?"), "\(error)")
        }
    }

    @Test("The system's error, which an app may print, does not repeat the URL of the request")
    func secretInURL() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/items?appid=s3cret"))
        let error = try await error(of: Endpoint(.get, .url(url)))
        let urlError = try #require(error.urlError)
        #expect(urlError.code == .cannotConnectToHost)
        #expect(!"\(urlError) \(urlError.userInfo) \(error.underlying.map { "\($0)" } ?? "")".contains("s3cret"))
        #expect(error.description.contains("127.0.0.1:1"))

        // Also of a stream that breaks off.
        let server = try LoopbackServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1")])
        let provider = DefaultAPIProvider(configuration: .patient)
        let bytes = try await provider.request(Endpoint<ByteStream>(.get, .url(server.url), query: ["appid": "s3cret"])).value
        let broken = await #expect(throws: APIError.self) { for try await _ in bytes {} }
        #expect(broken?.urlError != nil)
        #expect(broken.map { "\($0.urlError?.userInfo ?? [:])" }?.contains("s3cret") == false)
    }

    @Test("An IPv6 address is requested, or the sentence says that Foundation does not take it")
    func ipv6() async throws {
        let error = try await error(of: Endpoint(.get, .url(try #require(URL(string: "http://[::1]:1/")))))
        let sentence = "Foundation on Linux does not accept an IPv6 address as the host; use a name that leads to it, or another transport"
        #expect(error.urlError?.code == .cannotConnectToHost || "\(error)".contains(sentence))
    }

    @Test("Headers are found in any case, those of one name are joined, and UTF-8 stays as it is")
    func headers() async throws {
        let server = try LoopbackServer([
            .readRequest, .send("HTTP/1.1 404 Not Found\r\nX-ONE: 1\r\nX-ONE: 2\r\nX-Two: 1\r\nx-two: 2\r\nX-Name: né\r\n\r\nno"),
        ])
        let response = try #require(try await error(of: Endpoint(.get, .url(server.url))).response)
        #expect(response.headers["x-one"] == "1, 2")
        #expect(response.headers["X-TWO"] == "1, 2")
        #expect(response.headers["x-name"] == "né")
    }
}
