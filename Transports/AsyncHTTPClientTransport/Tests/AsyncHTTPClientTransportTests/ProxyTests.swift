import APIProvider
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import TestSupport
import Testing

@Suite("A proxy", tenMinutes)
struct ProxyTests {
    private let request = Endpoint<String>(.get, .url(URL(string: "https://api.test/a") ?? example))

    private func provider(by proxy: URL) -> DefaultAPIProvider {
        var configuration = HTTPClient.Configuration()
        configuration.proxy = .server(host: proxy.host ?? "", port: proxy.port ?? 0)
        return DefaultAPIProvider(transport: AsyncHTTPClientTransport(configuration: configuration))
    }

    @Test(
        "The error of a proxy that makes no tunnel speaks of the proxy",
        arguments: [
            ("403 Forbidden", "the proxy has made no connection; does it allow this host and port? (URLError -1004)."),
            ("502 Bad Gateway", "the proxy has made no connection; does it allow this host and port? (URLError -1004)."),
            ("010 x", "the proxy has made no connection; does it allow this host and port? (URLError -1004)."),
            (
                "407 Proxy Authentication Required",
                "the proxy asks for a user name and a password; set them in the client's configuration (URLError -1013)."
            ),
        ])
    func refusal(status: String, sentence: String) async throws {
        let proxy = try LoopbackServer { _, connection in connection.respond(status) }
        let error = try await #require(throws: APIError.self) { try await provider(by: proxy.url).request(request).value }
        #expect("\(error)" == "GET https://api.test/a failed: \(sentence)")
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
    }

    @Test("The error of a proxy that is not there names it")
    func absent() async throws {
        let url = try LoopbackServer.refusingURL()
        let error = try await #require(throws: APIError.self) { try await provider(by: url).request(request).value }
        let sentence = "no connection could be made; is a server listening at 127.0.0.1:\(url.port ?? 0)? (URLError -1004)."
        #expect("\(error)" == "GET https://api.test/a failed: \(sentence)")
    }
}
