import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Cookies", tenMinutes)
struct CookieTests {
    /// Sets a cookie at `/login`, another with a redirect from `/redirect`, and answers with those that it is sent.
    private let server: LoopbackServer
    private let configuration = URLSessionConfiguration.patient

    init() throws {
        server = try LoopbackServer { request, connection in
            let body = request.headers["cookie"] ?? "none"
            switch request.target {
            case "/login": connection.respond(headers: ["Set-Cookie": "stored=1; Path=/"], body: body)
            case "/session": connection.respond(headers: ["Set-Cookie": "sid=jar-session; Path=/"], body: body)
            case "/expired":
                connection.respond("401 Unauthorized", headers: ["Content-Type": "text/plain"], body: "\(body) has expired")
            case "/broken": connection.respond(headers: ["Content-Type": "application/json"], body: "{\"\(body)")
            case "/redirect": connection.respond("302 Found", headers: ["Set-Cookie": "hop=2; Path=/", "Location": "/"], body: body)
            default: connection.respond(body: body)
            }
        }
    }

    private func makeProvider() -> DefaultAPIProvider { DefaultAPIProvider(transport: TestedTransport(configuration: configuration)) }

    private func cookies(
        sentTo path: RequestPath = "", with headers: HTTPHeaders = [:], by provider: DefaultAPIProvider
    ) async throws -> String {
        try await provider.request(Endpoint<String>(.get, .url(server.url, path), headers: headers)).value
    }

    @Test("Stored cookies are sent, also after a redirect")
    func stored() async throws {
        let provider = makeProvider()
        #expect(try await cookies(sentTo: "/login", by: provider) == "none")
        #expect(try await cookies(by: provider) == "stored=1")
        let pair = try await cookies(sentTo: "/redirect", by: provider)
        #expect(Set(pair.components(separatedBy: "; ")) == ["stored=1", "hop=2"])
    }

    @Test("A Cookie header of a request is sent as given, whatever is stored, and the response's cookie is stored")
    func explicit() async throws {
        let provider = makeProvider()
        #expect(try await cookies(sentTo: "/login", with: ["Cookie": "own=3; x"], by: provider) == "own=3; x")
        #expect(try await cookies(sentTo: "/redirect", with: ["cookie": "own=3"], by: provider) == "own=3")
        let pair = try await cookies(by: provider)
        #expect(Set(pair.components(separatedBy: "; ")) == ["stored=1", "hop=2"])
    }

    @Test("A Cookie header of the configuration is sent as given")
    func additionalHeader() async throws {
        configuration.httpAdditionalHeaders = ["Cookie": "app=4"]
        let provider = makeProvider()
        _ = try await cookies(sentTo: "/login", by: provider)
        #expect(try await cookies(by: provider) == "app=4")
    }

    @Test(
        "A stored cookie that the server repeats is hidden in errors, their dumps and the log, also one that came while the request waited")
    func repeated() async throws {
        let log = Log<String>()
        let provider = DefaultAPIProvider(
            transport: TestedTransport(configuration: configuration), middlewares: [LoggingMiddleware(.bodies, log: log.append)],
            errorMessage: { String(decoding: $0.data, as: UTF8.self) })
        _ = try await cookies(sentTo: "/session", by: provider)
        for (path, shown) in [("/expired", "\"sid=… has expired\""), ("/broken", "\"{\"sid=…\"")] as [(RequestPath, String)] {
            let endpoint = Endpoint<Int>(.get, .url(server.url, path))
            let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
            #expect("\(error)".contains(shown), "\(error)")
            for text in ["\(error)", "\(error as NSError)", error.localizedDescription] + log.entries {
                #expect(!text.contains("jar-session"), "\(text)")
            }
        }
        #expect(try await cookies(by: provider) == "sid=jar-session")
    }

    @Test("A request can turn cookies off")
    func requestWithout() async throws {
        let provider = makeProvider()
        _ = try await cookies(sentTo: "/login", by: provider)
        let endpoint = Endpoint<String>(.get, .url(server.url)).adapting { $0.urlRequest.httpShouldHandleCookies = false }
        #expect(try await provider.request(endpoint).value == "none")
    }
}
