import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("What a bad network looks like", .serialized, tenMinutes)
struct FaultTests {
    @Test(
        "Each fault has its error and its sentence, and leaves no connection behind. The server…",
        arguments: Fault.all.filter { !$0.isSlow })
    func fault(_ fault: Fault) async throws { try await Self.check(fault) }

    fileprivate static func check(_ fault: Fault) async throws {
        let (url, result) = try await fault.run()
        // Which code a fault has on Apple's systems is documented for some and measured for none.
        #if canImport(FoundationNetworking)
        // A system without certificates of authorities, as a small container is, makes no TLS connection at all.
        let outcomes = fault.isSecure && !hasAuthorities ? [noAuthorities] : TestedTransport.outcomes(of: fault)
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

    @Test("A response that comes for ever ends with the configuration's timeoutIntervalForResource", arguments: Endless.allCases)
    func resourceTimeout(_ response: Endless) async throws {
        let server = try LoopbackServer(response.script)
        let configuration = URLSessionConfiguration.patient
        configuration.timeoutIntervalForResource = 1
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<Data>(.get, .url(server.url))).value
        }
        #expect(error.urlError?.code == .timedOut)
        await server.allClosed()
    }

    enum Endless: CaseIterable {
        case body, trailer

        var script: [Step] {
            switch self {
            case .body:
                [.readRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .drip(String(repeating: "a", count: 1000))]
            case .trailer:
                [
                    .readRequest, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"),
                    .drip(String(repeating: "X-A: b\r\n", count: 100)),
                ]
            }
        }
    }

    @Test("An answer to a body that the server does not read is the answer or, if the reset comes first, an error that says so")
    func unreadBody() async throws {
        // As a server closes that has not read all: the system resets the connection behind the answer.
        let server = try LoopbackServer([.readHead, .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"), .reset])
        let request = Endpoint<String>(
            .post, .url(server.url), body: .data(Data(count: 20_000_000), contentType: "application/octet-stream"))
        for _ in 0..<10 {
            let error = try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(request).value
            }
            let sentence = "127.0.0.1 closed the connection before its answer came; does it take a body of 20000000 bytes?"
            #expect(error.statusCode == 413 || "\(error)".contains(sentence), "\(error)")
        }
    }

    @Test("An IPv6 address is requested, or the sentence says that Foundation does not take it")
    func ipv6() async throws {
        let url = try #require(URL(string: "http://[::1]:1/"))
        let error = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(Endpoint<String>(.get, .url(url)))
                .value
        }
        #expect(
            error.urlError?.code == .cannotConnectToHost
                || "\(error)".hasSuffix(
                    "Foundation on Linux does not accept an IPv6 address as the host; use a name that leads to it, or another transport (URLError -1000)."
                ))
    }

    @Test("307 sends the body again, to another origin without the credentials")
    func temporaryRedirect() async throws {
        let other = try LoopbackServer { request, connection in
            connection.respond(body: String(decoding: request.body, as: UTF8.self))
        }
        let server = try LoopbackServer { _, connection in
            connection.respond("307 Temporary Redirect", headers: ["Location": "\(other.url)/there"])
        }
        let request = Endpoint<String>(
            .post, .url(server.url),
            headers: ["Authorization": "Bearer t0ken", "Cookie": "a=b", "Proxy-Authorization": "Basic x", "X-A": "b", "Accept": "c/d"],
            body: .data(Data("body".utf8), contentType: "text/plain"))
        #expect(try await DefaultAPIProvider(transport: TestedTransport(configuration: .patient)).request(request).value == "body")
        let last = try #require(other.requests.first)
        #expect(last.method == "POST")
        #expect(last.target == "/there")
        #expect(last.headers["content-type"] == "text/plain")
        #expect(last.headers["accept"] == "c/d")
        for name in ["authorization", "cookie", "proxy-authorization", "x-a"] { #expect(last.headers[name] == nil) }
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

@Suite("What a bad network looks like, where it takes seconds", tenMinutes)
struct SlowFaultTests {
    @Test("Each fault has its error and its sentence, and leaves no connection behind. The server…", arguments: Fault.all.filter(\.isSlow))
    func fault(_ fault: Fault) async throws { try await FaultTests.check(fault) }
}
