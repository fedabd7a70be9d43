#if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

/// A proxy of the environment, which is the process's.
@Suite("A proxy and the process", tenMinutes)
struct ProxyProcessTests {
    @Test("Behind a proxy, only the head of the server counts", arguments: ProxyHeads.allCases)
    func heads(_ heads: ProxyHeads) async {
        await #expect(processExitsWith: .success) { [heads] in
            setenv("https_proxy", "http://127.0.0.1:9", 1)
            TunnelProtocol.heads.withLock { $0 = heads }
            let configuration = URLSessionConfiguration.patient
            configuration.protocolClasses = [TunnelProtocol.self]
            let provider = DefaultAPIProvider(
                baseURL: URL(string: "https://api.example.com"),
                transport: URLSessionTransport(configuration: configuration, delegateSession: nil, usesNetwork: true))
            let folder = TemporaryFolder()
            let file = folder.url("file")
            try Data("old".utf8).write(to: file)

            let whole = try await provider.request(Endpoint<String>(.get, "/").validating { _ in }.withResponse()).value
            #expect(whole.response.statusCode == heads.status)
            #expect(whole.value == heads.body)
            let download = provider.request(Endpoint(.get, "/", downloadingTo: file))
            let stream = provider.request(Endpoint<ByteStream>(.get, "/"))
            if heads.status == 404 {
                await #expect(throws: APIError.self) { try await download.value }
                await #expect(throws: APIError.self) { try await stream.value }
                #expect(try String(contentsOf: file, encoding: .utf8) == "old")
            } else {
                _ = try await download.value
                #expect(try String(contentsOf: file, encoding: .utf8) == heads.body)
                #expect(try await stream.value.all().reduce(Data(), +) == Data(heads.body.utf8))
            }
        }
    }

    @Test("A head counts when the connection to the server is secure, and not before")
    func beforeTLS() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nSet-Cookie: proxy=a; Path=/; Secure\r\n\r\n")
                _ = connection.readSome()
                connection.send("no TLS")
            }
            setenv("https_proxy", proxy.url.absoluteString, 1)
            let configuration = URLSessionConfiguration.patient
            let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), configuration: configuration)
            let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<ByteStream>(.get, "/")).value }
            #expect(error?.urlError?.code == .secureConnectionFailed, "\(String(describing: error))")
            #expect(configuration.httpCookieStorage?.cookies?.isEmpty != false)
        }
    }

    @Test("A stream from a host for which no proxy is asked begins with its head, and not with its first byte")
    func headAlone() async {
        await #expect(processExitsWith: .success) {
            setenv("https_proxy", "http://127.0.0.1:9", 1)
            let configuration = URLSessionConfiguration.patient
            configuration.protocolClasses = [HeadAloneProtocol.self]
            let provider = DefaultAPIProvider(
                baseURL: URL(string: "https://api.example.com"),
                transport: URLSessionTransport(configuration: configuration, delegateSession: nil, usesNetwork: true))
            _ = try await provider.request(Endpoint<ServerSentEvents>(.get, "/")).value
        }
    }

    @Test("A proxy that makes no connection is an error with a code and a sentence", arguments: ProxyRefusal.allCases)
    func refused(_ refusal: ProxyRefusal) async {
        await #expect(processExitsWith: .success) { [refusal] in
            let proxy = try LoopbackServer { _, connection in connection.respond(refusal.rawValue, body: "no") }
            setenv("https_proxy", proxy.url.absoluteString, 1)
            let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), configuration: .patient)
            let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<String>(.get, "/")).value }
            let description = error?.description ?? ""
            #expect(description == "GET https://api.example.com/ failed: \(refusal.sentence).", "\(description)")
        }
    }
}

enum ProxyRefusal: String, CaseIterable, Codable {
    case forbidden = "403 Forbidden"
    case badGateway = "502 Bad Gateway"
    case passwordRequired = "407 Proxy Authentication Required"

    var sentence: String {
        switch self {
        case .forbidden, .badGateway: "the proxy has made no connection; does it allow this host and port? (URLError -1004)"
        case .passwordRequired: "the proxy asks for a user name and a password; set them in the URL of the proxy (URLError -1013)"
        }
    }
}

/// Tells of a head and of nothing more.
private final class HeadAloneProtocol: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "https" }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        let fields = ["Content-Type": "text/event-stream"]
        guard let url = request.url, let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields) else {
            return
        }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    }
}

/// The heads that a session tells of, in order.
enum ProxyHeads: CaseIterable, Codable {
    case proxyAndServer, proxyAndRefusal, proxyAndEmpty
    /// On a connection that was kept, the proxy is not asked again.
    case server, empty

    var status: Int {
        switch self {
        case .proxyAndServer, .server: 200
        case .proxyAndRefusal: 404
        case .proxyAndEmpty, .empty: 204
        }
    }

    var body: String { status == 204 ? "" : "the body" }
    var hasProxy: Bool { ![.server, .empty].contains(self) }
}

/// Tells of heads as libcurl does behind a proxy.
private final class TunnelProtocol: URLProtocol {
    static let heads = Locked(ProxyHeads.server)

    override static func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "https" }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        let heads = Self.heads.withLock { $0 }
        if heads.hasProxy { sendHead(200) }
        sendHead(heads.status)
        if !heads.body.isEmpty { client?.urlProtocol(self, didLoad: Data(heads.body.utf8)) }
        client?.urlProtocolDidFinishLoading(self)
    }

    private func sendHead(_ status: Int) {
        guard let url = request.url, let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil) else {
            return
        }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    }
}
#endif
