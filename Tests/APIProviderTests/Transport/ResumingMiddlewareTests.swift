@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Downloads that go on where they stopped, with middlewares", tenMinutes)
struct ResumingMiddlewareTests: DownloadSuite {
    let folder = TemporaryFolder()

    private static let broken = FileAnswer(breaksOffAfter: 12_000)

    private func download(_ server: LoopbackServer, _ middlewares: any Middleware...) async throws {
        let transport = TestedTransport(configuration: .patient)
        let provider = DefaultAPIProvider(baseURL: server.url, transport: transport, middlewares: middlewares)
        _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()).value
    }

    /// Sends each request twice, and takes the first success.
    @Sendable private static func hedge(
        _ request: PreparedRequest, _ next: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        .create { observer in
            let (bag, failures) = (DisposeBag(), Log<Void>())
            for single in [next(request), next(request)] {
                single.subscribe { event in
                    if case .failure = event {
                        failures.append(())
                        if failures.count < 2 { return }
                    }
                    observer(event)
                }.disposed(by: bag)
            }
            return Disposables.create { withExtendedLifetime(bag) {} }
        }
    }

    @Test(
        "A request that a middleware or a transport sends twice at once never mixes bytes, and what it keeps goes on",
        arguments: [false, true], [(false, 1_000), (false, nil), (true, 1_000), (true, nil)] as [(Bool, Int?)])
    func hedged(isByTransport: Bool, row: (hasRest: Bool, breaksOffAfter: Int?)) async throws {
        let ((hasRest, breaksOffAfter), begun) = (row, Log<Void>())
        let server = try LoopbackServer { request, connection in
            begun.append(())
            let isLost = (hasRest ? 1 : 0)..<(hasRest ? 3 : 2) ~= begun.count - 1
            FileAnswer(breaksOffAfter: hasRest && begun.count == 1 ? 12_000 : isLost ? breaksOffAfter : nil).send(to: request, connection)
        }
        if hasRest { await #expect(throws: APIError.self) { try await download(server) } }
        let inner = TestedTransport(configuration: .patient)
        let transport = ClosureTransport { isByTransport ? Self.hedge($0, inner.send) : inner.send($0) }
        let hedging = ClosureMiddleware { isByTransport ? $1($0) : Self.hedge($0, $1) }
        let provider = DefaultAPIProvider(transport: transport, middlewares: [hedging])
        let isWhole = (try? await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()).value) != nil
        // The other exchange's file goes with its connection.
        let isAlone = { (try? folder.names) == ["file.bin"] }
        if isWhole { await eventually(isAlone) } else { #expect(breaksOffAfter != nil) }
        if isWhole { try expectOnlyFile() }
        if let name = keptNames.first {
            let kept = try Data(contentsOf: keptFolder.appendingPathComponent(name))
            #expect(kept == Data(FileAnswer.body.utf8.prefix(kept.count)))
        }
        try await download(server)
        await eventually(isAlone)
        try expectOnlyFile()
    }

    @Test("A rest of which nothing comes says so")
    func emptyRest() async throws {
        let server = try LoopbackServer(Self.broken)
        await #expect(throws: APIError.self) { try await download(server) }
        let transport = ExchangeTransport { exchange in
            let fields = ["ETag": "\"v1\"", "Content-Length": "8000", "Content-Range": "bytes 12000-19999/20000"]
            let head = HTTPURLResponse(url: exchange.request.url, statusCode: 206, httpVersion: nil, headerFields: fields)
            if let head { _ = exchange.receive(head) }
            exchange.complete()
            return Disposables.create()
        }
        let error = await #expect(throws: APIError.self) {
            try await DefaultAPIProvider(transport: transport)
                .request(Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()).value
        }
        #expect(error?.description.contains("the server sent no bytes of the rest; the same request asks for the rest") == true)
        try expectKept(FileAnswer.body.prefix(12_000))
    }

    @Test("The next attempt of a RetryMiddleware goes on")
    func retries() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(partCount: 3_000), FileAnswer())
        try await download(server, RetryMiddleware(RetryPolicy(baseDelay: .nanoseconds(0))))
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=15000-"])
    }

    @Test("The attempt with a refreshed credential goes on")
    func refreshedCredential() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(status: "401 Unauthorized"), FileAnswer())
        await #expect(throws: APIError.self) { try await download(server) }
        let authentication = AuthenticationMiddleware(
            "old", apply: { $1.headers["Authorization"] = "Bearer \($0)" }, refresh: { _ in .just("new") })
        try await download(server, authentication)
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])
        #expect(server.requests.map { $0.headers["authorization"] } == [nil, "Bearer old", "Bearer new"])
    }

    @Test(
        "A middleware that makes the response anew without the file gets an error, and one with a body of its own replaces the file",
        arguments: [
            { APIResponse(request: $0, httpResponse: $1.httpResponse, data: $1.data) },
            { APIResponse(request: PreparedRequest(.get, $0.url), httpResponse: $1.httpResponse, data: $1.data) },
            { APIResponse(to: $0, data: $1.data) },
            { APIResponse(to: $0, data: $1.data + Data("its own".utf8)) },
        ] as [@Sendable (PreparedRequest, APIResponse) -> APIResponse])
    func madeAnew(change: @escaping @Sendable (PreparedRequest, APIResponse) -> APIResponse) async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer())
        await #expect(throws: APIError.self) { try await download(server) }
        var error: (any Error)?
        do { try await download(server, ClosureMiddleware { request, next in next(request).map { change(request, $0) } }) } catch let thrown
        {
            error = thrown
        }
        #expect(server.ranges == [nil, "bytes=12000-"])
        guard let error else { return try expectOnlyFile("its own") }
        #expect("\(error)".contains("a middleware made its response anew, without the downloaded file"), "\(error)")
        try expectKept(FileAnswer.body[...])
    }
}
