import APIProvider
import Foundation
import MiniRx
import MiniRxTesting
import Testing

/// What somebody can build from public names alone. The rules are those of the built-in middlewares.
@Suite("Middlewares of another package")
struct OutsideTests {
    private let base = URL(string: "https://api.example.com")
    private let scheduler = TestScheduler()
    private let server = FakeServer()

    private func provider(_ middlewares: any Middleware..., addedHeaders: HTTPHeaders? = [:]) -> DefaultAPIProvider {
        DefaultAPIProvider(
            baseURL: base, transport: ClosureTransport(addedHeaders: addedHeaders) { [server] in server.answer($0) },
            middlewares: middlewares)
    }

    /// The statuses and errors of endpoints that are requested one after the other.
    private func events(_ provider: DefaultAPIProvider, _ endpoints: Endpoint<Void>...) -> [String] {
        let seen = FakeServer()
        for endpoint in endpoints {
            _ = provider.request(endpoint.validating { _ in }.withResponse()).subscribe(
                onSuccess: { seen.note("\($0.response.statusCode)") },
                onFailure: { seen.note("\(($0 as? APIError)?.urlError?.code.rawValue ?? 0)") })
            scheduler.run()
        }
        return seen.notes
    }

    // MARK: - Retry

    @Test("A GET is sent again after 503 and after a lost connection, and waits for as long as the server asks")
    func retried() {
        server.will(.status(503, ["Retry-After": "7"]), .failure(.networkConnectionLost), .status(200))
        let start = scheduler.now
        #expect(events(provider(Retry(maxAttempts: 3, scheduler: scheduler)), Endpoint(.get, "/a")) == ["200"])
        #expect(server.lines.count == 3 && scheduler.now >= start + .seconds(9))
    }

    @Test("A POST is sent again only with an Idempotency-Key, or if it cannot have reached the server")
    func posts() {
        let retry = provider(Retry(maxAttempts: 2, scheduler: scheduler))
        server.will(.failure(.networkConnectionLost), .failure(.cannotConnectToHost), .status(201), .status(503), .status(201))
        let keyed = Endpoint<Void>(.post, "/a", headers: ["Idempotency-Key": "1"])
        #expect(events(retry, Endpoint(.post, "/a"), Endpoint(.post, "/a"), keyed) == ["-1005", "201", "201"])
        #expect(server.lines.count == 5)
    }

    @Test("A POST that a 303 has turned into a GET is not sent again", arguments: [Answer.status(503), .failure(.networkConnectionLost)])
    func redirectedPost(last: Answer) {
        server.will(.status(303, ["Location": "/b"]), last)
        _ = events(provider(Retry(maxAttempts: 3, scheduler: scheduler)), Endpoint(.post, "/a"))
        #expect(server.lines == ["POST /a ", "GET /b "])
    }

    // MARK: - Authentication

    @Test("A rejected token is refreshed once for all requests, which are sent again")
    func refreshed() {
        let (refreshes, gate) = (FakeServer(), Gate())
        let authentication = Authentication(token: "old-token") {
            refreshes.note("refresh")
            return gate.single
        }
        server.answers = { $0.headers["Authorization"] == "Bearer new-token" ? .status(200) : .status(401) }
        let (provider, seen) = (provider(authentication), FakeServer())
        for _ in 0..<3 {
            _ = provider.request(Endpoint<Void>(.get, "/me")).subscribe(onSuccess: { seen.note("200") }, onFailure: { seen.note("\($0)") })
        }
        gate.open("new-token")
        #expect(seen.notes == ["200", "200", "200"] && refreshes.notes == ["refresh"])
    }

    @Test("The token goes to no other host, also not by a redirect, and no text shows it")
    func hosts() {
        let authentication = Authentication(token: "old-token") { .just("new-token") }
        server.answers = { $0.url.path == "/a" ? .status(302, ["Location": "https://evil.example/b"]) : .status(400, body: "old-token?") }
        let (provider, log) = (provider(authentication), FakeServer())
        _ = provider.request(Endpoint<Void>(.get, "/a")).subscribe(onFailure: { log.note("\($0)") })
        _ = provider.request(Endpoint<Void>(.get, "/c")).subscribe(onFailure: { log.note("\($0)") })
        #expect(server.lines == ["GET /a Bearer old-token", "GET /b ", "GET /c Bearer old-token"])
        #expect(log.notes.count == 2 && !log.notes.contains { $0.contains("old-token") }, "\(log.notes)")
    }

    // MARK: - The log

    @Test(
        "The log shows headers and bodies on lines of their own, and secrets only if it is asked to",
        arguments: [Redaction.standard, .none])
    func log(redaction: Redaction) throws {
        let log = FakeServer()
        server.will(.status(200, ["Content-Type": "text/plain", "Set-Cookie": "s=s3cret"], body: "first\nsecond"), .failure(.timedOut))
        let endpoint = Endpoint<Void>(
            .post, "/a", query: ["token": "s3cret"], headers: ["Authorization": "s3cret"], body: .form(["a": "s3cret"]))
        let provider = provider(BodyLog(redaction: redaction) { log.note($0) })
        for _ in 0..<2 { _ = provider.request(endpoint).subscribe() }
        #expect(log.notes.count == 2 && log.notes.allSatisfy { $0.contains("s3cret") == (redaction == .none) }, "\(log.notes)")
        let first = try #require(log.notes.first)
        #expect(first.contains("\n> Authorization: ") && first.contains("\n< Content-Type: text/plain"), "\(first)")
        #expect(first.contains("first second") == (redaction == .none))
    }

    // MARK: - The cache

    @Test("A fresh response is not asked for again, and says where it comes from")
    func cached() {
        server.answers = { _ in .status(200, ["Cache-Control": "max-age=60"]) }
        let (provider, seen) = (provider(SmallCache(scheduler: scheduler)), FakeServer())
        for step in [0, 59, 2] {
            scheduler.advance(by: .seconds(step))
            _ = provider.request(Endpoint<Void>(.get, "/a").withResponse()).subscribe(onSuccess: { seen.note("\($0.response.isFromCache)") }
            )
        }
        #expect(seen.notes == ["false", "true", "false"] && server.lines.count == 2)
    }

    @Test("Users are kept apart, and nothing is stored over a transport that may add a credential in silence")
    func users() {
        server.answers = { _ in .status(200, ["Cache-Control": "max-age=60"]) }
        let cached = provider(SmallCache(scheduler: scheduler))
        let (jane, john) = (HTTPHeaders.authorization(bearerToken: "jane"), HTTPHeaders.authorization(bearerToken: "john"))
        for headers in [jane, john, [:], jane, john, [:]] { _ = cached.request(Endpoint<Void>(.get, "/me", headers: headers)).subscribe() }
        #expect(server.lines == ["GET /me Bearer jane", "GET /me Bearer john", "GET /me "])
        let unknown = provider(SmallCache(scheduler: scheduler), addedHeaders: nil)
        for _ in 0..<2 { _ = unknown.request(Endpoint<Void>(.get, "/other")).subscribe() }
        #expect(server.lines.count == 5)
    }

    @Test("Nothing is stored of a transport that follows redirects by itself")
    func redirected() {
        server.answers = { _ in .status(200, ["Cache-Control": "max-age=60"]) }
        let redirecting = ClosureTransport(addedHeaders: [:]) { [server] request in
            var redirected = request
            redirected.url.appendPathComponent("new")
            return server.answer(redirected).map { APIResponse(request: request, httpResponse: $0.httpResponse, data: $0.data) }
        }
        let cached = DefaultAPIProvider(baseURL: base, transport: redirecting, middlewares: [SmallCache(scheduler: scheduler)])
        for _ in 0..<2 { _ = cached.request(Endpoint<Void>(.get, "/a")).subscribe() }
        #expect(server.lines == ["GET /a/new ", "GET /a/new "])
    }

    @Test("Streams, files and a POST pass by")
    func others() async throws {
        server.answers = { _ in .status(200, ["Cache-Control": "max-age=60"], body: "a\n") }
        let provider = provider(SmallCache(scheduler: scheduler))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        for _ in 0..<2 {
            _ = try await provider.request(Endpoint<TextLines>(.get, "/lines")).value
            _ = try await provider.request(Endpoint<URL>(.get, "/file", downloadingTo: file)).value
            try await provider.request(Endpoint<Void>(.post, "/post")).value
        }
        #expect(server.lines.count == 6)
    }
}
