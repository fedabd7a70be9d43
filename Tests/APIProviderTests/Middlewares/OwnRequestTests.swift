@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

private enum TraceKey: RequestOptionKey { static let defaultValue = 0 }

extension RequestOptions {
    /// An option of the app's own.
    var trace: Int {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}

/// Sends a request of its own before each request.
private struct Nonce: AsyncMiddleware {
    var method = HTTPMethod.get
    var path = "/nonce"
    let answers = Log<APIResponse>()

    func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse {
        let answer = try await next(PreparedRequest(method, example.appendingPathComponent(path)))
        answers.append(answer)
        var request = request
        request.headers["X-Nonce"] = String(decoding: answer.data, as: UTF8.self)
        return try await next(request)
    }
}

@Suite("What a request has that a middleware has made", tenMinutes)
struct OwnRequestTests {
    private let seen = Log<PreparedRequest>()

    /// Answers `/nonce` with nine bytes, `/old` with a redirect to it, `/broken` with a timeout, and anything else with `{"id":1}`.
    private var transport: ExchangeTransport {
        ExchangeTransport { [seen] exchange in
            seen.append(exchange.request)
            let path = exchange.request.url.path
            guard path != "/broken" else {
                exchange.complete(with: URLError(.timedOut))
                return Disposables.create()
            }
            let body = Data((path == "/nonce" ? "123456789" : path == "/old" ? "moved" : #"{"id":1}"#).utf8)
            let fields: HTTPHeaders = ["Location": path == "/old" ? "/nonce" : nil, "Content-Length": "\(body.count)"]
            let head = APIResponse(to: exchange.request, statusCode: path == "/old" ? 302 : 200, headers: fields)
            if exchange.receive(head.httpResponse) { _ = exchange.receive(body) }
            exchange.complete()
            return Disposables.create()
        }
    }

    private func provider(_ middlewares: any Middleware...) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: transport, middlewares: middlewares)
    }

    @Test("It has its whole response in memory, for a value, a download and a stream")
    func destination() async throws {
        let (nonce, folder) = (Nonce(), TemporaryFolder())
        let provider = provider(nonce)
        _ = try await provider.request(Endpoint<Data>(.get, "/item")).value
        _ = try await provider.request(Endpoint(.get, "/item", downloadingTo: folder.url("item"))).value
        let lines = try await provider.request(Endpoint<JSONLines<[String: Int]>>(.get, "/item")).value
        #expect(try await lines.reduce(into: []) { $0.append($1) } == [["id": 1]])
        #expect(try Data(contentsOf: folder.url("item")) == Data(#"{"id":1}"#.utf8))
        #expect(nonce.answers.entries.map(\.data) == Array(repeating: Data("123456789".utf8), count: 3))
        #expect(seen.entries.map { $0.headers["X-Nonce"] } == [nil, "123456789", nil, "123456789", nil, "123456789"])
    }

    @Test("It has no progress, name, policy or option of the endpoint, and its redirect is followed")
    func options() async throws {
        let (progress, log) = (Log<Int64>(), Log<String>())
        let nonce = Nonce(path: "/old")
        let provider = provider(nonce, LoggingMiddleware(log: log.append))
        let endpoint = Endpoint<Data>(.get, "/item").onProgress { progress.append($0.bytesReceived) }.option(\.name, "item()")
            .option(\.redirectPolicy, .never).option(\.trace, 7).option(\.isAuthenticated, false)
        _ = try await provider.request(endpoint).value
        #expect(seen.entries.map(\.url.path) == ["/old", "/nonce", "/item"])
        #expect(seen.entries.map(\.options.trace) == [0, 0, 7] && seen.entries.map(\.options.isAuthenticated) == [true, true, false])
        #expect(nonce.answers.entries.map(\.statusCode) == [200])
        #expect(Set(progress.entries).subtracting([0]) == [8])
        #expect(log.entries.map { $0.contains("item()") } == [false, true], "\(log.entries)")
    }

    @Test("A POST of its own is not sent again by the policy of the endpoint")
    func retries() async throws {
        let clock = TestScheduler()
        let provider = provider(Nonce(method: .post, path: "/broken"), RetryMiddleware(scheduler: clock))
        let endpoint = Endpoint<Data>(.get, "/item").option(\.retryPolicy, RetryPolicy(methods: [.get, .post]))
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error.isTimeout && seen.entries.map(\.url.path) == ["/broken"])
    }

    @Test("It has the provider's decoder, and the secrets of the request are hidden in its texts")
    func context() async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Value: Decodable { let userName: String }
        let (nonce, folder) = (Nonce(path: "/users/s3cret-name"), TemporaryFolder())
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, decoder: decoder, middlewares: [nonce])
        _ = try await provider.request(Endpoint(.get, "/users/\(secret: "s3cret-name")", downloadingTo: folder.url("a"))).value
        let answer = try #require(nonce.answers.entries.first)
        let other = APIResponse(to: answer.request, data: Data(#"{"user_name":"a"}"#.utf8))
        #expect(try other.decode(Value.self).userName == "a")
        #expect(!"\(APIError.unacceptableStatus(answer))".contains("s3cret"))
    }

    @Test("What the closure of a redirect policy makes is the next request, with the options and the destination of the endpoint")
    func decided() async throws {
        let (folder, progress) = (TemporaryFolder(), Log<Int64>())
        let policy = RedirectPolicy.decide { next, _ in
            #expect(next.options.trace == 7)
            var new = PreparedRequest(.get, next.url)
            new.options.name = "new"
            return new
        }
        let endpoint = Endpoint(.get, "/old", downloadingTo: folder.url("a")).option(\.redirectPolicy, policy).option(\.trace, 7)
            .onProgress { progress.append($0.bytesReceived) }
        let file = try await provider().request(endpoint).value
        #expect(try Data(contentsOf: file) == Data("123456789".utf8))
        #expect(seen.entries.map(\.options.trace) == [7, 7] && seen.entries.map(\.options.name) == [nil, "new"])
        #expect(progress.entries.last == 9)
    }

    @Test("What a closure of the app makes anew hides the secrets of the request that it gets", arguments: 0..<4)
    func secrets(closure: Int) async throws {
        let transport = ClosureTransport { request in
            let isOld = request.url.path == "/old"
            let body = isOld ? "" : #"{"message":"bad key abcdef123456"}"#
            return .just(
                APIResponse(
                    to: request, statusCode: isOld ? 302 : 400,
                    headers: isOld ? ["Location": "/new"] : ["Content-Type": "application/json"],
                    data: Data(body.utf8)))
        }
        let apply: @Sendable (String, inout PreparedRequest) -> Void = { $1 = PreparedRequest(.get, $1.url, headers: ["X-Token": $0]) }
        let authentication = AuthenticationMiddleware("token", apply: apply) { _ in .error(TestError("no")) }
        let hiding = ClosureMiddleware { request, next in
            var request = request
            request.hide("abcdef123456")
            return next(request)
        }
        let middleware = ClosureMiddleware { request, next in next(PreparedRequest(.get, request.url)) }
        let middlewares: [[any Middleware]] = [[hiding], [], [middleware], [authentication]]
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: middlewares[closure])
        let endpoint = Endpoint<Data>(.get, closure == 0 ? "/old" : "/new/\(secret: "abcdef123456")")
            .option(\.redirectPolicy, .decide { next, _ in PreparedRequest(.get, next.url) })
            .adapting { if closure == 1 { $0 = PreparedRequest(.get, $0.url) } }
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error.description.contains("bad key …"), "\(error)")
        #expect(!error.description.contains("abcdef"), "\(error)")
    }

    @Test("Each attempt of a retry has all options")
    func attempts() async throws {
        let clock = TestScheduler()
        let sent = Answers(.status(503), .status(200))
        let provider = sent.provider(RetryMiddleware(scheduler: clock, random: { 0 }))
        let endpoint = Endpoint<Data>(.get, "/item").option(\.name, "item()").option(\.trace, 7)
        let status = Log<Bool>()
        let subscription = provider.request(endpoint).subscribe { event in status.append((try? event.get()) != nil) }
        clock.run()
        subscription.dispose()
        #expect(status.entries == [true] && sent.requests.map(\.options.trace) == [7, 7])
        #expect(sent.requests.map(\.options.name) == ["item()", "item()"])
    }

    @Test("An endpoint that makes its request anew keeps its destination, and no option")
    func adapted() async throws {
        let folder = TemporaryFolder()
        let endpoint = Endpoint(.get, "/item", downloadingTo: folder.url("a")).option(\.trace, 7)
            .adapting { $0 = PreparedRequest(.get, $0.url) }
        let file = try await provider().request(endpoint).value
        #expect(try Data(contentsOf: file) == Data(#"{"id":1}"#.utf8) && seen.entries.map(\.options.trace) == [0])
    }

    @Test("What the app gets holds no transport, and so no connection")
    func released() async throws {
        let failing = ClosureMiddleware { request, _ in .error(APIError.transport(request, underlying: URLError(.timedOut))) }
        let answering = [200, 500].map { status in ClosureMiddleware { request, _ in .just(APIResponse(to: request, statusCode: status)) } }
        var kept: [Result<APIResponse, any Error>] = []
        for middlewares in [[], [failing], [answering[0]], [answering[1]], [Nonce()]] as [[any Middleware]] {
            weak var released: Token?
            do {
                let connection = Token()
                released = connection
                let transport = ClosureTransport { request in withExtendedLifetime(connection) { .just(APIResponse(to: request)) } }
                let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: middlewares)
                do {
                    kept.append(.success(try await provider.request(Endpoint<Data>(.get, "/a").withResponse()).value.response))
                } catch {
                    kept.append(.failure(error))
                }
            }
            // A task of an AsyncMiddleware ends after its value has come.
            #expect(await eventually { released == nil }, "\(middlewares)")
        }
        #expect(kept.count == 5)
    }
}
