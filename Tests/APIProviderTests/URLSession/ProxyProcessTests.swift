#if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

/// The environment of a process names the proxy.
@Suite("A proxy and the process", tenMinutes)
struct ProxyProcessTests {
    @Test("Behind a proxy, only the head of the server counts, also on a kept connection, where the proxy is not asked again")
    func heads() async {
        await #expect(processExitsWith: .success) {
            let provider = behindTunnel()
            for statuses in [[200, 200], [200, 404], [200, 204], [200], [204]] {
                let status = statuses.last ?? 0
                let text = status == 204 ? "" : "the body"
                TunnelProtocol.answer.withLock { $0 = (statuses, text, true) }
                let folder = TemporaryFolder()
                let file = folder.url("file")
                try Data("old".utf8).write(to: file)

                let whole = try await provider.request(Endpoint<String>(.get, "/").validating { _ in }.withResponse()).value
                #expect(whole.response.statusCode == status)
                #expect(whole.value == text)
                let download = provider.request(Endpoint(.get, "/", downloadingTo: file))
                let stream = provider.request(Endpoint<ByteStream>(.get, "/"))
                if status == 404 {
                    await #expect(throws: APIError.self) { try await stream.value }
                } else {
                    #expect(try await stream.value.all().reduce(Data(), +) == Data(text.utf8))
                }
                if status == 200 {
                    _ = try await download.value
                } else {
                    await #expect(throws: APIError.self) { try await download.value }
                }
                #expect(try String(contentsOf: file, encoding: .utf8) == (status == 200 ? text : "old"))
            }
        }
    }

    @Test("A stream from a host that needs no proxy begins with its head, before its first byte")
    func headAlone() async {
        await #expect(processExitsWith: .success) {
            TunnelProtocol.answer.withLock { $0 = ([200], "", false) }
            _ = try await behindTunnel().request(Endpoint<ServerSentEvents>(.get, "/")).value
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

    @Test("The error of a proxy that is not there names it, and that of a server that is not there names the server")
    func absent() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer.refusingURL()
            let server = try LoopbackServer.refusingURL()
            let place = "127.0.0.1:\(proxy.port ?? 0)"
            let noProxy = "no connection to the proxy could be made; is it listening at \(place)? (URLError -1004)."
            let noServer = "no connection could be made; is a server listening at 127.0.0.1:\(server.port ?? 0)? (URLError -1004)."
            let unknown = "the proxy was not found; check the spelling of its name in the environment, and the network (URLError -1003)."
            for (variable, value, url, sentence) in [
                ("http_proxy", "http://user:word@\(place)", "http://api.example.com/", noProxy),
                ("http_proxy", place, "\(server)", noProxy),
                ("https_proxy", place, "https://api.example.com/", noProxy), ("no_proxy", "127.0.0.1", "\(server)", noServer),
                ("http_proxy", "http://proxy.invalid:3128", "http://api.example.com/", unknown),
            ] {
                setenv(variable, value, 1)
                let request = Endpoint<String>(.get, .url(try #require(URL(string: url))))
                let provider = DefaultAPIProvider(configuration: .patient)
                let error = await #expect(throws: APIError.self) { try await provider.request(request).value }
                #expect(error?.description.hasSuffix("failed: \(sentence)") == true, "\(String(describing: error))")
            }
        }
    }

    @Test("A proxy that makes no connection is an error with a code and a sentence")
    func refused() async {
        await #expect(processExitsWith: .success) {
            let noConnection = "the proxy has made no connection; does it allow this host and port? (URLError -1004)"
            let noPassword = "the proxy asks for a user name and a password; set them in the URL of the proxy (URLError -1013)"
            for (status, sentence) in [
                ("403 Forbidden", noConnection), ("502 Bad Gateway", noConnection), ("407 Proxy Authentication Required", noPassword),
            ] {
                let proxy = try LoopbackServer { _, connection in connection.respond(status, body: "no") }
                setenv("https_proxy", proxy.url.absoluteString, 1)
                let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), configuration: .patient)
                let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<String>(.get, "/")).value }
                #expect(error?.description == "GET https://api.example.com/ failed: \(sentence).")
            }
        }
    }
}

/// A provider whose environment names a proxy, and whose session tells of heads as libcurl does.
private func behindTunnel() -> DefaultAPIProvider {
    setenv("https_proxy", "http://127.0.0.1:9", 1)
    let transport = URLSessionTransport(configuration: TunnelProtocol.configuration, delegateSession: nil, hasProtocolClass: false)
    return DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), transport: transport)
}

private final class TunnelProtocol: StubProtocol {
    /// The heads in order, the first from the proxy if there are two, and the body.
    static let answer = Locked((statuses: [200], body: "", ends: true))

    override func startLoading() {
        let (statuses, body, ends) = Self.answer.withLock { $0 }
        // A head with a type is not that of a proxy.
        for status in statuses { sendHead(status, ends ? [:] : ["Content-Type": "text/event-stream"]) }
        if !body.isEmpty { send(body) }
        if ends { finish() }
    }
}
#endif
