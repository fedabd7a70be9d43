import APIProvider
import AsyncHTTPClient
import Foundation
import MiniRx
import MiniRxTesting
import NIOCore
import NIOSSL
import TestSupport
import Testing

@_spi(Transports) @testable import APIProviderTransport
@testable import AsyncHTTPClientTransport

@Suite("Connections of AsyncHTTPClient", tenMinutes)
struct ConnectionTests {
    private let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())

    private func text(_ url: URL, by provider: DefaultAPIProvider? = nil) async throws -> String {
        try await (provider ?? self.provider).request(Endpoint<String>(.get, .url(url))).value
    }

    @Test("A server that closes idle connections loses no request")
    func idle() async throws {
        let server = try await Server(closesConnections: true)
        for _ in 0..<200 { #expect(try await text(server.url) == "by HTTP/1.1") }
    }

    @Test("A server that goes away is an error, and when it comes back the same provider reaches it")
    func comesBack() async throws {
        let first = try await Server()
        #expect(try await text(first.url) == "by HTTP/1.1")
        try await first.stop()
        // A connection that is kept still works: a new provider has none.
        let fresh = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
        let error = try await #require(throws: APIError.self) { try await text(first.url, by: fresh) }
        // A server of another test may have taken the port meanwhile, for a moment.
        #expect([.cannotConnectToHost, .networkConnectionLost].contains(error.urlError?.code))
        let second = try await Server(port: first.url.port ?? 0)
        #expect(second.url == first.url)
        #expect(try await text(second.url, by: fresh) == "by HTTP/1.1")
    }

    @Test("A host may be an IPv6 address")
    func version6() async throws {
        guard let server = try? await Server(host: "::1") else { return }
        #expect(try await text(server.url) == "by HTTP/1.1")
    }

    @Test("More requests than connections: none times out unsent, and one that is disposed leaves the queue")
    func queue() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            goOn.wait()
            connection.respond(body: "ok")
        }
        let results = Signals<String>()
        let requests = (0..<20).map { number in
            provider.request(Endpoint<String>(.get, .url(server.url, "/\(number)"), timeoutInterval: 30)).subscribe(
                onSuccess: { results.send($0) }, onFailure: { results.send("\($0)") })
        }
        requests[19].dispose()
        for _ in 0..<20 { goOn.signal() }
        #expect(await results.next(19) == Array(repeating: "ok", count: 19))
        #expect(!server.requests.contains { $0.target == "/19" })
    }

    /// A configuration that trusts `certificate`.
    private func configuration(trusting certificate: NIOSSLCertificate) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .certificates([certificate])
        return configuration
    }

    @Test("A request that waits for a connection for longer than the client connects goes on waiting")
    func poolTimeout() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        configuration.timeout.connect = .seconds(2)
        let client = HTTPClient(configuration: configuration)
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport(client: client))
        let (arrivals, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { _, connection in
            arrivals.send(())
            goOn.wait()
            connection.respond(body: "ok")
        }
        let results = Signals<String>()
        let request = Endpoint<String>(.get, .url(server.url), timeoutInterval: 600)
        let subscriptions = (0..<2).map { _ in
            provider.request(request).subscribe(onSuccess: { results.send($0) }, onFailure: { results.send("\($0)") })
        }
        await arrivals.next()
        // One of the client's own, which comes last, no longer waits.
        await #expect(throws: HTTPClientError.getConnectionFromPoolTimeout) {
            try await client.execute(HTTPClientRequest(url: "\(server.url)"), timeout: .seconds(600))
        }
        for _ in 0..<2 { goOn.signal() }
        #expect(await results.next(2) == ["ok", "ok"])
        withExtendedLifetime(subscriptions) {}
        try await client.shutdown()
    }

    @Test("HTTP/2 is used where the server speaks it over TLS, for many requests at once")
    func http2() async throws {
        let tls = try TLSConfiguration.selfSigned()
        let server = try await Server(tls: tls.server)
        let client = HTTPClient(configuration: configuration(trusting: tls.certificate))
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport(client: client))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await text(server.url, by: provider) } }
            for try await text in group { #expect(text == "by HTTP/2") }
        }
        try await client.shutdown()
        let error = try await #require(throws: APIError.self) { try await text(server.url, by: provider) }
        #expect(error.description.hasSuffix("failed: the HTTPClient has been shut down (URLError -1)."))
    }

    @Test("A status below 100 is an error by HTTP/2, too", arguments: [0, 10, 99])
    func lowStatus(code: Int) async throws {
        let tls = try TLSConfiguration.selfSigned()
        let server = try await Server(tls: tls.server, status: .custom(code: UInt(code), reasonPhrase: ""))
        let transport = AsyncHTTPClientTransport(configuration: configuration(trusting: tls.certificate))
        let error = try await #require(throws: APIError.self) { try await text(server.url, by: DefaultAPIProvider(transport: transport)) }
        #expect(error.urlError?.code == .cannotParseResponse)
    }

    /// A provider whose requests may be silent for ten seconds of `time`.
    private func provider(trusting certificate: NIOSSLCertificate, _ time: TestScheduler) -> DefaultAPIProvider {
        var settings = ExchangeTransport.Settings()
        (settings.maxRequestsPerHost, settings.timeoutInterval) = (8, 10)
        let client = Client(configuration(trusting: certificate), maxResponseSize: nil)
        return DefaultAPIProvider(transport: ExchangeTransport(settings, scheduler: time) { client.start($0) })
    }

    @Test("By HTTP/2 too, a host gets eight requests at once, and waiting is no silence")
    func streams() async throws {
        let (tls, gate, time) = (try TLSConfiguration.selfSigned(), Gate(), TestScheduler())
        let server = try await Server(tls: tls.server, gate: gate)
        let provider = provider(trusting: tls.certificate, time)
        let results = Signals<String>()
        let subscriptions = (0..<25).map { _ in
            provider.request(Endpoint<String>(.get, .url(server.url)))
                .subscribe(onSuccess: { results.send($0) }, onFailure: { results.send("\($0)") })
        }
        for count in [8, 8, 8, 1] {
            await gate.arrivals.next(count)
            time.advance(by: .seconds(9))
            gate.open()
            #expect(await results.next(count) == Array(repeating: "by HTTP/2", count: count))
        }
        withExtendedLifetime(subscriptions) {}
    }

    @Test("By HTTP/2, the time of each request begins with its turn")
    func silentStreams() async throws {
        let (tls, gate, time) = (try TLSConfiguration.selfSigned(), Gate(), TestScheduler())
        let server = try await Server(tls: tls.server, gate: gate)
        let provider = provider(trusting: tls.certificate, time)
        let (results, sent) = (Signals<URLError.Code?>(), Signals<Void>())
        let request = Endpoint<String>(.get, .url(server.url)).onProgress { _ in sent.send(()) }
        let subscriptions = (0..<20).map { _ in
            provider.request(request)
                .subscribe(onSuccess: { _ in results.send(nil) }, onFailure: { results.send(($0 as? APIError)?.urlError?.code) })
        }
        await gate.arrivals.next(8)
        gate.open()
        #expect(await results.next(8) == Array(repeating: nil, count: 8))
        // Each tells that its head has gone, and the first eight of their bodies.
        await sent.next(8 * 2)
        for count in [8, 4] {
            await gate.arrivals.next(count)
            await sent.next(count)
            time.advance(by: .seconds(11))
            #expect(await results.next(count) == Array(repeating: .timedOut, count: count))
        }
        withExtendedLifetime(subscriptions) {}
    }

    @Test("A certificate that is not trusted is refused as by URLSession")
    func untrusted() async throws {
        let server = try await Server(tls: try TLSConfiguration.selfSigned().server)
        let session = DefaultAPIProvider(transport: URLSessionTransport(configuration: .ephemeral))
        let expected = try await #require(throws: APIError.self) { try await text(server.url, by: session) }
        let error = try await #require(throws: APIError.self) { try await text(server.url) }
        #expect(error.description == expected.description)
        #expect(error.urlError?.code == expected.urlError?.code)
    }

    @Test("A client that follows redirects leaves them to the provider")
    func following() async throws {
        let server = try LoopbackServer { request, connection in
            switch request.target {
            case "/end": connection.respond(body: request.headers["authorization"] ?? "none")
            case "/https": connection.respond("302 Found", headers: ["Location": "mailto:a@b"], body: "moved")
            default: connection.respond("302 Found", headers: ["Location": "/end"], body: "moved")
            }
        }
        // The shared client follows redirects.
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport(client: .shared))
        let request = Endpoint<String>(.get, .url(server.url, "/start"), headers: ["Authorization": "Bearer t"])
        #expect(try await provider.request(request).value == "Bearer t")
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<String>(.get, .url(server.url, "/https"))).value
        }
        #expect(error.statusCode == 302)
        #expect(server.requests.map(\.target) == ["/start", "/end", "/https"])
    }

    @Test("A transport's own client ends with the transport and its last request, which is answered")
    func ownClient() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            goOn.wait()
            connection.respond(body: "ok")
        }
        weak var own: Client?
        var settings = ExchangeTransport.Settings()
        settings.maxRequestsPerHost = 1
        let single = {
            let client = Client(HTTPClient.Configuration(), maxResponseSize: nil)
            own = client
            let transport = ExchangeTransport(settings) { client.start($0) }
            return DefaultAPIProvider(transport: transport).request(Endpoint<String>(.get, .url(server.url)))
        }
        let results = Signals<String>()
        let subscription = single().subscribe(onSuccess: { results.send($0) }, onFailure: { results.send("\($0)") })
        #expect(own != nil)
        goOn.signal()
        #expect(await results.next() == "ok")
        subscription.dispose()
        let deadline = DispatchTime.now() + 30
        while own != nil, DispatchTime.now() < deadline { await Task.yield() }
        #expect(own == nil)
    }

    @Test("Requests that are disposed at some moment each bring one event or none, and leave nothing")
    func races() async throws {
        let server = try await Server()
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<rounds(100) {
            let log = Log<Int>()
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "dispose", attributes: .concurrent)
            for number in 0..<20 {
                let wait = DispatchTimeInterval.microseconds(Int.random(in: 0..<2_000, using: &generator))
                group.enter()
                let subscription = provider.request(Endpoint<String>(.get, .url(server.url)))
                    .subscribe(onSuccess: { _ in log.append(number) }, onFailure: { Issue.record($0) }, onDisposed: { group.leave() })
                queue.asyncAfter(deadline: .now() + wait) { subscription.dispose() }
            }
            await withCheckedContinuation { continuation in group.notify(queue: queue) { continuation.resume() } }
            #expect(Set(log.entries).count == log.count)
        }
        #expect(try await text(server.url) == "by HTTP/1.1")
    }
}

@Suite("A GET with a body, for servers that want one")
struct BodyOfGetTests {
    @Test("It is sent, with its length and its type", arguments: [HTTPMethod.get, .head])
    func sent(method: HTTPMethod) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let provider = DefaultAPIProvider(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"])).option(\.allowsBody, true)
        try await provider.request(endpoint).value
        let request = try #require(server.requests.first)
        #expect(request.method == method.rawValue)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"q":"swift"}"#)
        #expect(request.headers["content-type"] == "application/json")
    }

    @Test("Without the option nothing is sent, and the error names the option", arguments: [HTTPMethod.get, .head])
    func refused(method: HTTPMethod) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let provider = DefaultAPIProvider(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"]))
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(
            error.description
                == "The request was not sent: \(method) has no body: send it with another method, or put the values into the query; if the "
                + "server wants it, add .option(\\.allowsBody, true).")
        #expect(server.requests.isEmpty)
    }
}
