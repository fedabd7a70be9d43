import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("What happens at a redirect", tenMinutes)
struct RedirectPolicyTests {
    /// Redirects `/a` to `/b`, and `/b` to another host.
    private let server = TestedServer()

    private final class TestedServer: Sendable {
        let seen = Log<String>()

        var provider: DefaultAPIProvider {
            DefaultAPIProvider(
                baseURL: example,
                transport: ExchangeTransport { [self] exchange in
                    let url = exchange.request.url
                    self.seen.append("\(url.host ?? "")\(url.path) \(exchange.request.headers["X-Own"] ?? "-")")
                    let location = url.path == "/a" ? "/b" : url.path == "/b" ? "https://cdn.example.com/c" : nil
                    let head = HTTPURLResponse(
                        url: url, statusCode: location == nil ? 200 : 302, httpVersion: nil, headerFields: location.map { ["Location": $0] }
                    )
                    if let head { _ = exchange.receive(head) }
                    _ = exchange.receive(Data("body of \(url.path)".utf8))
                    exchange.complete()
                    return Disposables.create()
                })
        }

        func send(_ policy: RedirectPolicy) -> Single<(value: String, response: APIResponse)> {
            provider.request(Endpoint<String>(.get, "/a", headers: ["X-Own": "1"]).option(\.redirectPolicy, policy).withResponse())
        }
    }

    @Test("With never, the redirect is the response, and its status is accepted")
    func never() async throws {
        let (value, response) = try await server.send(.never).value
        #expect(value == "body of /a")
        #expect(response.statusCode == 302)
        #expect(response.value(forHTTPHeaderField: "Location") == "/b")
        #expect(server.seen.entries == ["api.example.com/a 1"])
        #expect("\(Redactor(for: response.request).line(of: response.request))" == "GET https://api.example.com/a")
    }

    @Test("A closure decides by the new request, and may change it")
    func decide() async throws {
        let policy = RedirectPolicy.decide { next, redirect in
            #expect(redirect.statusCode == 302)
            var next = next
            next.headers["X-Own"] = "2"
            return next
        }
        #expect(try await server.send(policy).value.value == "body of /c")
        #expect(server.seen.entries == ["api.example.com/a 1", "api.example.com/b 2", "cdn.example.com/c 2"])
    }

    @Test("Where the closure returns nil, the redirect is the response, and its status is refused")
    func decideNot() async throws {
        let error = await #expect(throws: APIError.self) {
            try await server.send(.decide { next, _ in next.url.host == "api.example.com" ? next : nil }).value
        }
        #expect(error?.statusCode == 302)
        #expect(error?.response?.request.url.path == "/b")
        #expect(server.seen.count == 2)
    }

    @Test("What the closure throws is the error of the request")
    func decideThrows() async {
        await #expect(throws: TestError.self) { try await server.send(.decide { _, _ in throw TestError("no") }).value }
        #expect(server.seen.count == 1)
    }

    @Test("A loop ends after 20 redirects also where a closure decides")
    func loop() async {
        let policy = RedirectPolicy.decide { next, _ in
            var next = next
            next.url = URL(string: "https://api.example.com/a") ?? example
            return next
        }
        let error = await #expect(throws: APIError.self) { try await server.send(policy).value }
        #expect(error?.urlError?.code == .httpTooManyRedirects)
        #expect(server.seen.count == 21)
    }

    @Test("A request with a secret segment keeps it and its mark")
    func secret() async throws {
        let endpoint = Endpoint<Void>(.get, "/\(secret: "hunter2/x")").option(\.redirectPolicy, .never).validating { _ in
            throw TestError("x")
        }
        let request = try endpoint.preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).line(of: request) == "GET https://api.example.com/…")
        await #expect(throws: TestError.self) { try await server.provider.request(endpoint).value }
    }

    @Test("A download does not take the body of a redirect for its file")
    func download() async {
        let folder = TemporaryFolder()
        let file = folder.url("a")
        let endpoint = Endpoint(.get, "/a", downloadingTo: file).option(\.redirectPolicy, .never)
        let error = await #expect(throws: APIError.self) { try await server.provider.request(endpoint).value }
        #expect(error?.statusCode == 302)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    /// A transport that follows redirects by itself: it answers each request as if it had been redirected to `url`.
    private func send(_ policy: RedirectPolicy, from first: String, to url: String, status: Int = 200) async throws -> Int {
        let (first, url) = (try #require(URL(string: first)), try #require(URL(string: url)))
        let head = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        let provider = DefaultAPIProvider(transport: ClosureTransport { .just(APIResponse(request: $0, response: head, data: Data())) })
        return try await provider.request(Endpoint<Data>(.get, .url(first)).option(\.redirectPolicy, policy).withResponse()).value.response
            .statusCode
    }

    @Test(
        "A transport that follows a redirect by itself fails where the policy is another",
        arguments: [
            ("https://h/a", "https://h/b"), ("https://h/a", "https://h/a/"), ("https://h/a", "https://g/a"),
            ("https://h/a", "https://h:1/a"),
            ("http://h/a", "https://h/a"), ("https://h/a", "https://h/a?b"), ("https://h/a?b=1", "https://h/a?b=2"),
        ])
    func followedByItself(from first: String, to url: String) async throws {
        for policy in [RedirectPolicy.never, .decide { next, _ in next }] {
            let error = await #expect(throws: APIError.self) { try await send(policy, from: first, to: url) }
            #expect(error?.urlError?.code == .httpTooManyRedirects)
            #expect(
                error?.description.hasSuffix(
                    "the transport followed a redirect by itself, so the option redirectPolicy has no effect; turn that off in the transport "
                        + "(URLError -1007).") == true)
        }
        #expect(try await send(.follow, from: first, to: url) == 200)
    }

    @Test(
        "The same URL in another form is no redirect",
        arguments: [
            ("https://h", "https://h/"), ("https://h/a#b", "https://h/a"), ("https://H/a", "https://h/a"),
            ("https://h/a", "https://h:443/a"),
            ("https://h/%7Ea?%7E", "https://h/~a?~"), ("https://h/a?", "https://h/a"),
        ])
    func sameURL(from first: String, to url: String) async throws {
        #expect(try await send(.never, from: first, to: url) == 200)
        #expect(try await send(.never, from: first, to: url, status: 302) == 302)
    }

    @Test("A POST that is sent again where a redirect has led has the headers of the session")
    func headersAfterRedirect() async throws {
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders = ["X-Key": "1"]
        let log = Log<String>()
        let transport = ExchangeTransport(settings) { exchange in
            let request = exchange.request
            log.append("\(request.method) \(request.url.path) \(request.headers["X-Key"] ?? "none")")
            let answers = ["/a": (303, ["Location": "/b"]), "/b": (log.count == 2 ? 503 : 200, [:])] as [String: (Int, [String: String])]
            let (status, fields) = answers[request.url.path] ?? (404, [:])
            let head = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            if let head { _ = exchange.receive(head) }
            exchange.complete()
            return Disposables.create()
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [retry])
        try await provider.request(Endpoint<Void>(.post, "/a")).value
        #expect(log.entries == ["POST /a 1", "GET /b 1", "GET /b 1"])
    }

    @Test("A request that a middleware has made anew keeps what only a provider sets")
    func madeAnew() async throws {
        struct Moving: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                next(PreparedRequest(.get, request.url.appendingPathComponent("new"), headers: request.headers))
            }
        }
        let sent = Log<PreparedRequest>()
        let transport = ClosureTransport { request in
            sent.append(request)
            return .just(APIResponse(to: request, status: 404))
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport,
            middlewares: [Moving(), AuthenticationMiddleware(token: "letters") { _ in .never() }])
        let request = Endpoint<Void>(.get, "/\(secret: "s3cret")").option(\.name, "name")
        let error = await #expect(throws: APIError.self) { try await provider.request(request).value }
        #expect(error?.description.hasPrefix("GET https://api.example.com/…/new failed") == true, "\(String(describing: error))")
        #expect(sent.entries.first?.options.name == "name" && sent.entries.first?.headers["Authorization"] == "Bearer letters")
    }
}
