import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Cookies", tenMinutes)
struct CookieTests {
    /// Sets a cookie at `/login`, also with a redirect from `/redirect`, and answers with those that it is sent.
    private let server: LoopbackServer
    private let configuration = URLSessionConfiguration.patient

    init() throws {
        server = try LoopbackServer { request, connection in
            let body = request.headers["cookie"] ?? "none"
            switch request.target {
            case "/login": connection.respond(headers: ["Set-Cookie": "stored=1; Path=/"], body: body)
            case "/redirect": connection.respond("302 Found", headers: ["Set-Cookie": "hop=2; Path=/", "Location": "/"], body: body)
            default: connection.respond(body: body)
            }
        }
    }

    private func cookies(
        sentTo path: RequestPath = "", with headers: HTTPHeaders = [:], by provider: DefaultAPIProvider
    ) async throws -> String {
        try await provider.request(Endpoint<String>(.get, .url(server.url, path), headers: headers)).value
    }

    @Test("Stored cookies are sent, also on the way of a redirect")
    func stored() async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        #expect(try await cookies(sentTo: "/login", by: provider) == "none")
        #expect(try await cookies(by: provider) == "stored=1")
        let pair = try await cookies(sentTo: "/redirect", by: provider)
        #expect(Set(pair.components(separatedBy: "; ")) == ["stored=1", "hop=2"])
    }

    @Test(
        "A stored cookie is sent where it is meant to be (RFC 6265, sections 5.1.4 and 5.4)",
        arguments: [
            ("a=1; Path=/", "/", true), ("a=1; Path=/", "/x/y", true), ("a=1; Path=/x", "/x", true), ("a=1; Path=/x", "/x/", true),
            ("a=1; Path=/x", "/x/y", true), ("a=1; Path=/x/", "/x/y", true), ("a=1; Path=/x", "/xy", false), ("a=1; Path=/x", "/", false),
            ("a=1; Path=/; Secure", "/", false), ("a=1", "/", true),
        ])
    func meant(cookie: String, path: String, isSent: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            let headers = request.target == "/login" ? ["Set-Cookie": cookie] : [:]
            connection.respond(headers: headers, body: request.headers["cookie"] ?? "none")
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        _ = try await provider.request(Endpoint<String>(.get, .url(server.url, "/login"))).value
        let sent = try await provider.request(Endpoint<String>(.get, .url(server.url, RequestPath(path)))).value
        #expect(sent == (isSent ? "a=1" : "none"))
    }

    @Test(
        "An expired cookie is not sent: its Max-Age wins over its Expires (RFC 6265, section 5.3)",
        arguments: [
            ("Max-Age=0", false), ("Max-Age=-5", false), ("Max-Age=1000", true), ("max-age=99999999999999999999999", true),
            ("Max-Age=soon", true), ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", false), ("Expires=Fri, 31 Dec 2100 00:00:00 GMT", true),
            ("Expires=Fri, 31 Dec 2100 00:00:00 GMT; Max-Age=0", false),
        ])
    func expired(attribute: String, isSent: Bool) async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        #expect(try await sent(after: ["stored=1; Path=/; \(attribute)"], by: provider) == (isSent ? "stored=1" : "none"))
    }

    @Test("A cookie that is set anew with a Max-Age of 0 is not sent any more")
    func deleted() async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        #expect(try await sent(after: ["a=1; Path=/", "b=2; Path=/", "a=; Path=/; Max-Age=0"], by: provider) == "b=2")
    }

    @Test("Cookies of a longer path come first, and then the older ones (RFC 6265, section 5.4)")
    func cookieOrder() async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        let cookies = (0..<5).map { "c\($0)=\($0); Path=/" } + ["a=root; Path=/", "a=x; Path=/x", "a=y; Path=/x/y", "b=1; Path=/x"]
        let pairs = try await sent(after: cookies, to: "/x/y/z", by: provider).components(separatedBy: "; ")
        let ordered = ["a=y", "a=x", "b=1", "c0=0", "c1=1", "c2=2", "c3=3", "c4=4", "a=root"]
        #if canImport(FoundationNetworking)
        #expect(pairs == ordered)
        #else
        // A session of Apple's sends them itself, in an order that is not documented.
        #expect(pairs.sorted() == ordered.sorted())
        #endif
    }

    /// The cookies that are sent to `path` after the server has set these, one after the other.
    private func sent(after cookies: [String], to path: RequestPath = "/", by provider: DefaultAPIProvider) async throws -> String {
        let server = try LoopbackServer { request, connection in
            let headers = Int(request.target.dropFirst()).map { ["Set-Cookie": cookies[$0]] } ?? [:]
            connection.respond(headers: headers, body: request.headers["cookie"] ?? "none")
        }
        for index in cookies.indices { _ = try await provider.request(Endpoint<String>(.get, .url(server.url, "/\(index)"))).value }
        return try await provider.request(Endpoint<String>(.get, .url(server.url, path))).value
    }

    @Test("A Cookie header of a request is sent as given, whatever is stored", arguments: [true, false])
    func explicit(hasStored: Bool) async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        if hasStored { _ = try await cookies(sentTo: "/login", by: provider) }
        #expect(try await cookies(with: ["Cookie": "own=3; x"], by: provider) == "own=3; x")
        #expect(try await cookies(sentTo: "/redirect", with: ["cookie": "own=3"], by: provider) == "own=3")
    }

    @Test("The cookie of a response is stored, also when the request had a Cookie header")
    func storedAfterExplicit() async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        #expect(try await cookies(sentTo: "/login", with: ["Cookie": "own=3"], by: provider) == "own=3")
        #expect(try await cookies(by: provider) == "stored=1")
    }

    @Test("A Cookie header of the configuration is sent as given")
    func additionalHeader() async throws {
        configuration.httpAdditionalHeaders = ["Cookie": "app=4"]
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        _ = try await cookies(sentTo: "/login", by: provider)
        #expect(try await cookies(by: provider) == "app=4")
    }

    @Test("A request may do without cookies")
    func requestWithout() async throws {
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: configuration))
        _ = try await cookies(sentTo: "/login", by: provider)
        #expect(
            try await provider.request(Endpoint<String>(.get, .url(server.url)).adapting { $0.urlRequest.httpShouldHandleCookies = false })
                .value
                == "none")
    }
}
