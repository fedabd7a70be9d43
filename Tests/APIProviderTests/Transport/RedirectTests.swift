@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects", tenMinutes)
struct RedirectTests {
    /// Answers with the `status` and the `location` in the query, or with the number of redirects at the end of the path.
    private static func transport(_ settings: ExchangeTransport.Settings = .init()) -> ExchangeTransport {
        ExchangeTransport(settings) { exchange in
            let url = exchange.request.url
            let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
            let query = items.reduce(into: [:]) { $0[$1.name] = $1.value }
            var (status, location) = (Int(query["status"] ?? "") ?? 200, query["location"])
            if let count = Int(url.lastPathComponent), count > 0 { (status, location) = (302, "\(count - 1)") }
            let fields = location.map { ["Location": $0] }
            let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            if let head { _ = exchange.receive(head) }
            exchange.complete()
            return Disposables.create()
        }
    }

    private let provider = DefaultAPIProvider(baseURL: example, transport: transport())

    /// What was sent last: the request that got the answer.
    private func lastRequest(for request: Endpoint<Data>, by provider: DefaultAPIProvider? = nil) async throws -> PreparedRequest {
        try await (provider ?? self.provider).request(request.withResponse()).value.response.request
    }

    private func redirect(_ status: Int, to location: String?) -> QueryParameters { ["status": status, "location": location] }

    @Test("A response from the other normal form of a path comes from another URL, and one from an escaped path does not")
    func normalForms() throws {
        let urls = try ["caf%C3%A9", "cafe%CC%81", "c%61f%C3%A9"].map { try #require(URL(string: "https://a.example/\($0)")) }
        let responses = try urls.map { url in
            let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            return APIResponse(request: PreparedRequest(.get, urls[0]), httpResponse: head, data: Data())
        }
        #expect(responses.map(\.wasRedirectedByTransport) == [false, true, false])
    }

    @Test(
        "The status and the method decide the next method, and whether it keeps the body (RFC 9110, section 15.4)",
        arguments: [
            (301, .get, .get, false), (301, .post, .get, false), (301, .put, .put, true),
            (302, .post, .get, false), (302, .delete, .delete, true), (303, .post, .get, false), (303, .put, .get, false),
            (303, .head, .head, false), (307, .post, .post, true), (308, .post, .post, true), (308, .patch, .patch, true),
        ] as [(Int, HTTPMethod, HTTPMethod, Bool)])
    func methods(status: Int, method: HTTPMethod, next: HTTPMethod, keepsBody: Bool) async throws {
        let fieldsOfBody: HTTPHeaders = [
            "Content-Language": "en", "Transfer-Encoding": "chunked", "expect": "100-continue", "Trailer": "X-A", "Content-MD5": "a",
        ]
        let hasBody = method != .get && method != .head
        var headers = hasBody ? fieldsOfBody : [:]
        headers["X-App"] = "demo"
        let body = hasBody ? HTTPBody.data(Data("body".utf8), contentType: "a/b") : nil
        let last = try await lastRequest(
            for: Endpoint(method, "/", query: redirect(status, to: "/end"), headers: headers, body: body))
        #expect(last.url.path == "/end")
        #expect(last.method == next)
        #expect(last.bodyData == (keepsBody ? Data("body".utf8) : nil))
        #expect(last.headers["Content-Type"] == (keepsBody ? "a/b" : nil))
        for (name, value) in fieldsOfBody { #expect(last.headers[name] == (keepsBody ? value : nil), "\(name)") }
        #expect(last.headers["X-App"] == "demo")
    }

    @Test(
        "Credentials and a Host go only to the origin that they were meant for (RFC 6454, section 4)",
        arguments: [
            ("https://h/", "https://h/x", true), ("https://h/", "https://h:443/x", true), ("https://h/", "HTTPS://H/x", true),
            ("http://h:80/", "http://h/x", true), ("https://h/", "https://g/x", false), ("https://h/", "https://h:444/x", false),
            ("http://h/", "https://h/x", false), ("https://h/", "https://a.h/x", false), ("https://h/", "//g/x", false),
        ])
    func origins(from: String, to: String, keeps: Bool) async throws {
        let request = Endpoint<Data>(
            .get, .url(try #require(URL(string: from))), query: redirect(307, to: to),
            headers: ["Authorization": "s3cret", "cookie": "s3cret", "Proxy-Authorization": "s3cret", "Host": "s3cret"])
        let last = try await lastRequest(for: request)
        #expect(last.url.path == "/x")
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "Host"] {
            #expect(last.headers[name] == (keeps ? "s3cret" : nil), "\(name)")
        }
    }

    @Test(
        "Only headers that are known to be harmless go to another origin, no matter who has set them and what a log shows of them",
        arguments: [
            ("X-Api-Key", "s3cret", false), ("X-App", "demo", false), ("Referer", "https://h/?access_token=s3cret", false),
            ("Origin", "https://h", false), ("Server", "a", false), ("Accept-Language", "a", true), ("Range", "a", true),
            ("If-None-Match", "a", true), ("Idempotency-Key", "a", true), ("Last-Event-ID", "a", true), ("Content-Digest", "a", true),
            ("Prefer", "a", true),
        ])
    func harmless(name: String, value: String, goesAlong: Bool) async throws {
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders[name] = value
        let byTransport = DefaultAPIProvider(transport: Self.transport(settings))
        let byMiddleware = DefaultAPIProvider(transport: Self.transport(), middlewares: [DefaultHeadersMiddleware([name: value])])
        for (to, expected) in [("https://g/x", goesAlong ? value : nil), ("https://h/x", value)] {
            let ways: [(HTTPHeaders, DefaultAPIProvider)] = [([name: value], provider), ([:], byTransport), ([:], byMiddleware)]
            for (headers, provider) in ways {
                let url = try #require(URL(string: "https://h/"))
                let request = Endpoint<Data>(.get, .url(url), query: redirect(307, to: to), headers: headers)
                #expect(try await lastRequest(for: request, by: provider).headers[name] == expected)
            }
        }
    }

    @Test("If there is a base URL, a request to another origin gets only the harmless headers of its transport")
    func wholeURL() async throws {
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders = ["Authorization": "s3cret", "X-Api-Key": "s3cret", "Accept-Language": "en"]
        let provider = DefaultAPIProvider(baseURL: example, transport: Self.transport(settings))
        for (host, secret) in [("api.example.com", "s3cret"), ("cdn.example.com", nil)] {
            let url = try #require(URL(string: "https://\(host)/a"))
            let sent = try await lastRequest(for: Endpoint(.get, .url(url)), by: provider).headers
            #expect(["Authorization", "X-Api-Key", "Accept-Language"].map { sent[$0] } == [secret, secret, "en"])
        }
    }

    @Test(
        "No request has a fragment, neither the first nor a redirected one, and an escaped # stays",
        arguments: [
            ("https://h/a#%C3%A9", nil, "https://h/a"), ("https://h/a#top", "/b", "https://h/b"),
            ("https://h/a?q#top", "https://g/b?r#end", "https://g/b?r"), ("https://h/a#", "/b%23c?d=%23#", "https://h/b%23c?d=%23"),
            ("https://h/a%23b#c", nil, "https://h/a%23b"),
        ] as [(String, String?, String)])
    func fragment(url: String, location: String?, end: String) async throws {
        let answers = Answers(location.map { .status(302, headers: ["Location": $0]) } ?? .status(200), .status(200))
        let endpoint = Endpoint<Data>(.get, .url(try #require(URL(string: url)))).withResponse()
        let response = try await DefaultAPIProvider(transport: ClosureTransport(answers.next)).request(endpoint).value.response
        #expect(response.request.url.absoluteString == end)
        #expect(answers.requests.allSatisfy { !$0.url.absoluteString.contains("#") })
    }

    @Test("A request that a middleware or a redirect policy changes has no fragment, either")
    func addedFragment() async throws {
        let answers = Answers(.status(302, headers: ["Location": "/b"]), .status(200))
        let url = try #require(URL(string: "https://h/c?d#e"))
        let policy = RedirectPolicy.decide { next, _ in
            var next = next
            next.url = url
            return next
        }
        let adding = ClosureMiddleware { request, next in
            var request = request
            request.urlRequest.url = URL(string: "https://h/a#top")
            return next(request)
        }
        let provider = DefaultAPIProvider(transport: ClosureTransport(answers.next), middlewares: [adding])
        _ = try await provider.request(Endpoint<Data>(.get, .url(url)).option(\.redirectPolicy, policy)).value
        #expect(answers.requests.map(\.url.absoluteString) == ["https://h/a", "https://h/c?d"])
        #expect(PreparedRequest(.get, url).url.absoluteString == "https://h/c?d")
    }

    @Test(
        "A redirect is followed within a scheme of the transport's own, and from there to https",
        arguments: ["/b", "https://h/b", "http://h/b"])
    func ownScheme(location: String) async throws {
        let answers = Answers(.status(302, headers: ["Location": location]), .status(200))
        let url = try #require(URL(string: "http+unix://%2Frun%2Fdocker.sock/v1/containers"))
        let endpoint = Endpoint<Data>(.get, .url(url)).validating { _ in }
        _ = try await DefaultAPIProvider(transport: ClosureTransport(answers.next)).request(endpoint).value
        let next = ["/b": "http+unix://%2Frun%2Fdocker.sock/b", "https://h/b": "https://h/b"][location]
        #expect(answers.requests.map(\.url.absoluteString) == [url.absoluteString, next].compactMap { $0 })
    }

    @Test(
        "A 401 after a redirect that has dropped the credential says so, quotes the challenge, and tells nobody to sign in again",
        arguments: [
            ("Authorization", "https://g/x", "https://h:443"), ("X-Api-Key", "//g/x", "https://h:443"), ("Cookie", "http://h:8/x", nil),
            ("Authorization", "https://h/x", nil), ("X-Trace", "https://g/x", nil), ("authorization", "https://g:8/", "https://h:443"),
        ] as [(String, String, String?)])
    func droppedCredential(header: String, location: String, origin: String?) async throws {
        let challenge = #"Bearer error="invalid_token", error_description="It is missing.""#
        let answers = Answers(.status(302, headers: ["Location": location]), .status(401, headers: ["WWW-Authenticate": challenge]))
        let endpoint = Endpoint<Void>(.get, .url(try #require(URL(string: "https://h/a"))), headers: [header: "s3cret"])
        let error = try #require(
            await #expect(throws: APIError.self) {
                try await DefaultAPIProvider(transport: ClosureTransport(answers.next)).request(endpoint).value
            })
        guard error.statusCode == 401 else {
            // From https to http, no redirect is followed.
            #expect(error.statusCode == 302 && location.hasPrefix("http:"))
            return
        }
        let reason = origin.map { "the redirect from \($0) to another origin has dropped the credential: " } ?? ""
        #expect(error.description.contains("failed: 401 Unauthorized: \(reason)\"invalid_token: It is missing.\""), "\(error)")
        #expect(error.recoverySuggestion == (origin == nil ? "Sign in again." : nil))
    }

    @Test("A middleware that adds the credential again after a redirect has lost none")
    func credentialAddedAgain() async throws {
        let answers = Answers(.status(302, headers: ["Location": "https://one.example/x"]), .status(401))
        let token = AuthenticationMiddleware(token: "s3cret", hosts: ["api.example.com", "one.example"]) { _ in .just("s3cret") }
        let error = await #expect(throws: APIError.self) {
            try await answers.provider(RedirectFollower(), token).request(Endpoint<Void>(.get, "/a")).value
        }
        #expect(error?.recoverySuggestion == "Sign in again." && error?.description.contains("dropped") == false)
    }

    @Test(
        "A Location resolves against the request's URL, without white space around it, and gets the escapes that it lacks (RFC 3986)",
        arguments: [
            ("./g", "http://a/b/c/g"), ("/g", "http://a/g"), ("//g", "http://g"), ("../../../g", "http://a/g"), ("?y", "http://a/b/c/d?y"),
            ("..", "http://a/b/"), ("g;x=1/../y", "http://a/b/c/y"), ("\t/g \t", "http://a/g"),
            ("é%2f?é%2f", "http://a/b/c/%C3%A9%2f?%C3%A9%2f"), ("?q=100%&r=%4&s=%41", "http://a/b/c/d?q=100%25&r=%254&s=%41"),
            ("http://h/../a/./b?q=/../#/..", "http://h/a/b?q=/../"), ("//h/a/..", "http://h/"),
            ("//bücher.example/a b%2Fc", "http://xn--bcher-kva.example/a%20b%2Fc"),
        ])
    func location(location: String, url: String) async throws {
        let request = Endpoint<Data>(.get, .url(try #require(URL(string: "http://a/b/c/d"))), query: redirect(302, to: location))
        #expect(try await lastRequest(for: request).url.absoluteString == url)
    }

    @Test(
        "A response with a Location whose status is not one to follow is the answer",
        arguments: [
            (300, "a choice is the reader's (RFC 9110, 15.4.1)"), (304, "RFC 9110, 15.4.5"), (305, "deprecated (RFC 9110, 15.4.6)"),
            (201, "no redirect (RFC 9110, 10.2.2)"),
        ])
    func answers(status: Int, rule: String) async throws {
        let request = Endpoint<Data>(.get, .url(try #require(URL(string: "https://h/"))), query: redirect(status, to: "https://h/x"))
        let response = try await provider.request(request.validating { _ in }.withResponse()).value.response
        #expect(response.statusCode == status, "\(rule)")
    }

    @Test("20 redirects are followed, and not one more")
    func limit() async throws {
        let base = try #require(URL(string: "https://h/count"))
        #expect(try await lastRequest(for: Endpoint(.get, .url(base, "20"))).url.lastPathComponent == "0")
        let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<String>(.get, .url(base, "21"))).value }
        #expect(error?.urlError?.code == .httpTooManyRedirects)
    }
}
