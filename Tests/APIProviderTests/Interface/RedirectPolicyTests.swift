@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

@Suite("The option redirectPolicy", tenMinutes)
struct RedirectPolicyTests {
    private let seen = Log<String>()

    /// Redirects `/a` to `/b`, and `/b` to another host.
    private var provider: DefaultAPIProvider {
        DefaultAPIProvider(
            baseURL: example,
            transport: ExchangeTransport { [seen] exchange in
                let url = exchange.request.url
                seen.append("\(url.host ?? "")\(url.path) \(exchange.request.headers["X-Own"] ?? "-")")
                let location = ["/a": "/b", "/b": "https://cdn.example.com/c"][url.path]
                let head = APIResponse(to: exchange.request, statusCode: location == nil ? 200 : 302, headers: ["Location": location])
                _ = exchange.receive(head.httpResponse)
                _ = exchange.receive(Data("body of \(url.path)".utf8))
                exchange.complete()
                return Disposables.create()
            })
    }

    private func send(_ policy: RedirectPolicy) -> Single<(value: String, response: APIResponse)> {
        let endpoint = Endpoint<String>(.get, "/\(secret: "a")", headers: ["X-Own": "1"])
        return provider.request(endpoint.option(\.redirectPolicy, policy).withResponse())
    }

    @Test("Policies are of the same kind if both follow, both return the redirect, or both ask a closure")
    func kinds() {
        let policies: [RedirectPolicy] = [.follow, .never, .decide { next, _ in next }]
        for (index, policy) in policies.enumerated() {
            let others: [RedirectPolicy] = [.follow, .never, .decide { _, _ in nil }]
            #expect(others.map(policy.hasSameKind) == others.indices.map { $0 == index })
        }
    }

    @Test("With never, the redirect is the response, its status is accepted, and its request keeps its secrets")
    func never() async throws {
        let (value, response) = try await send(.never).value
        #expect(value == "body of /a")
        #expect(response.statusCode == 302)
        #expect(response.value(forHTTPHeaderField: "Location") == "/b")
        #expect(seen.entries == ["api.example.com/a 1"])
        #expect("\(Redactor(for: response.request).line(of: response.request))" == "GET https://api.example.com/…")
    }

    @Test("A closure decides by the new request, and may change it")
    func decide() async throws {
        let policy = RedirectPolicy.decide { next, redirect in
            #expect(redirect.statusCode == 302)
            var next = next
            next.headers["X-Own"] = "2"
            return next
        }
        #expect(try await send(policy).value.value == "body of /c")
        #expect(seen.entries == ["api.example.com/a 1", "api.example.com/b 2", "cdn.example.com/c 2"])
    }

    @Test(
        "A 304 is no redirect, and is refused with each policy",
        arguments: [.follow, .never, .decide { next, _ in next }] as [RedirectPolicy])
    func notModified(policy: RedirectPolicy) async throws {
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { .just(APIResponse(to: $0, statusCode: 304, headers: ["Location": "/b"])) })
        let endpoint = Endpoint<Data>(.get, "/a", headers: ["If-None-Match": "\"1\""]).option(\.redirectPolicy, policy)
        let error = await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error?.statusCode == 304)
    }

    @Test("If the closure returns nil, the redirect is the response, its status is refused, and the error says why")
    func decideNot() async throws {
        let error = await #expect(throws: APIError.self) {
            try await send(.decide { next, _ in next.url.host == "api.example.com" ? next : nil }).value
        }
        #expect(error?.statusCode == 302)
        #expect(error?.response?.request.url.path == "/b")
        #expect(error?.description.contains("302 Found: its request's redirectPolicy did not follow it (") == true, "\(error as Any)")
        #expect(seen.count == 2)
    }

    @Test("An error that the closure throws is the error of the request")
    func decideThrows() async {
        await #expect(throws: TestError.self) { try await send(.decide { _, _ in throw TestError("no") }).value }
        #expect(seen.count == 1)
    }

    @Test("A loop ends after 20 redirects also if a closure decides")
    func loop() async {
        let policy = RedirectPolicy.decide { next, _ in
            var next = next
            next.url = example.appendingPathComponent("a")
            return next
        }
        let error = await #expect(throws: APIError.self) { try await send(policy).value }
        #expect(error?.urlError?.code == .httpTooManyRedirects)
        #expect(seen.count == 21)
    }

    @Test("A download does not write the body of a redirect to its file")
    func download() async {
        let folder = TemporaryFolder()
        let endpoint = Endpoint(.get, "/a", downloadingTo: folder.url("a")).option(\.redirectPolicy, .never)
        let error = await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error?.statusCode == 302)
        #expect(!FileManager.default.fileExists(atPath: folder.url("a").path))
    }

    @Test(
        "With a policy, a transport that follows redirects by itself fails, and the same URL in another form is not a redirect",
        arguments: [
            ("https://h/a", "https://h/b", true), ("https://h/a", "https://h/a/", true), ("https://h/a", "https://g/a", true),
            ("https://h/a", "https://h:1/a", true), ("http://h/a", "https://h/a", true), ("https://h/a", "https://h/a?b", true),
            ("https://h/a?b=1", "https://h/a?b=2", true),
            ("https://h", "https://h/", false), ("https://h/a#b", "https://h/a", false), ("https://H/a", "https://h/a", false),
            ("https://h/a", "https://h:443/a", false), ("https://h/%7Ea?%7E", "https://h/~a?~", false),
            ("https://h/a?", "https://h/a", false),
        ])
    func transport(from first: String, to url: String, isRedirect: Bool) async throws {
        let (first, url) = (try #require(URL(string: first)), try #require(URL(string: url)))
        let policies: [(RedirectPolicy, status: Int, isRefused: Bool)] = [
            (.follow, 200, false), (.never, 200, isRedirect), (.never, 302, isRedirect), (.decide { next, _ in next }, 200, isRedirect),
        ]
        for (policy, status, isRefused) in policies {
            let head = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
            let transport = ClosureTransport { .just(APIResponse(request: $0, httpResponse: head, data: Data())) }
            let endpoint = Endpoint<Void>(.get, .url(first)).option(\.redirectPolicy, policy).validating { _ in }
            var error: APIError?
            do { try await DefaultAPIProvider(transport: transport).request(endpoint).value } catch let caught as APIError {
                error = caught
            }
            #expect(error?.urlError?.code == (isRefused ? .httpTooManyRedirects : nil))
            #expect(error?.description.contains("the transport followed a redirect by itself") == (isRefused ? true : nil))
        }
    }

    @Test(
        "The error of a redirect that is not followed says why",
        arguments: [
            ("ftp://files.example.com/letters", "its Location is ftp://…, which is not followed"),
            ("mailto:letters@example.com", "its Location is mailto:…, which is not followed"),
            ("http://api.example.com/letters", "its Location is http://…, which is not followed from https"),
            ("https:///letters", "its Location has no host"), (nil, "it has no Location"),
            ("https://api.example.com:65536/letters", "its Location has the port 65536; the highest is 65535"),
        ] as [(String?, String)])
    func reason(location: String?, reason: String) async throws {
        let answers = Answers(.status(302, headers: ["Location": location], body: #"{"message":"moved"}"#))
        let error = try await #require(throws: APIError.self) { try await answers.provider().request(Endpoint<Void>(.get, "/a")).value }
        #expect(error.description == "GET https://api.example.com/a failed: 302 Found: \(reason) (19 bytes).")
        #expect(answers.requests.count == 1)
    }

    @Test(
        "A redirect from https to http is the response, and no closure is asked",
        arguments: ["http://api.example.com/b", "HTTP://b.example/"])
    func downgrade(location: String) async throws {
        let answers = Answers(.status(307, headers: ["Location": location]))
        let endpoint = Endpoint<Void>(.get, "/a").option(
            \.redirectPolicy,
            .decide { next, _ in
                Issue.record("asked about \(next)")
                return next
            })
        let error = try await #require(throws: APIError.self) { try await answers.provider().request(endpoint).value }
        #expect(
            error.statusCode == 307 && error.description.contains("its Location is http://…, which is not followed from https"), "\(error)")
        #expect(answers.requests.count == 1)
    }

    @Test("The policy that a middleware sets is asked in place of the endpoint's, and decides whether a redirect is accepted")
    func setByMiddleware() async throws {
        let answers = Answers(.status(302, headers: ["Location": "/b"]))
        let endpoint = Endpoint<Void>(.get, "/a").withResponse()
        let setting: (RedirectPolicy) -> ClosureMiddleware = { policy in
            ClosureMiddleware { request, next in
                var request = request
                request.options.redirectPolicy = policy
                return next(request)
            }
        }
        #expect(try await answers.provider(setting(.never)).request(endpoint).value.response.statusCode == 302)
        let refused = endpoint.option(\.redirectPolicy, .never)
        let error = await #expect(throws: APIError.self) {
            try await answers.provider(setting(.decide { _, _ in nil })).request(refused).value
        }
        #expect(error?.statusCode == 302)
        #expect(answers.requests.count == 2)
    }

    @Test("Without a provider, the endpoint's policy decides whether a redirect is accepted")
    func endpointAlone() throws {
        let redirect = APIResponse(to: PreparedRequest(.get, example), statusCode: 302)
        try Endpoint<Void>(.get, "/a").option(\.redirectPolicy, .never).value(of: redirect)
        #expect(throws: APIError.self) { try Endpoint<Void>(.get, "/a").value(of: redirect) }
    }
}
