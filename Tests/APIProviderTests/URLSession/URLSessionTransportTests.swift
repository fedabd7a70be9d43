import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

/// The other suites run against any transport.
@Suite("A session's configuration, its delegate and its protocol classes", tenMinutes)
struct URLSessionTransportTests {
    private let configuration = URLSessionConfiguration.patient

    @Test("The headers of a configuration are sent, and a request's own win; to another origin than the base URL's, no other goes")
    func additionalHeaders() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        configuration.httpAdditionalHeaders = ["X-App": "demo", "X-Trace": "session"]
        let provider = DefaultAPIProvider(session: URLSession(configuration: configuration))
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url), headers: ["x-trace": "request"])).value == "ok")
        #expect(server.requests.first?.headers["x-app"] == "demo")
        #expect(server.requests.first?.headers["x-trace"] == "request")
        let elsewhere = DefaultAPIProvider(baseURL: example, session: URLSession(configuration: configuration))
        #expect(try await elsewhere.request(Endpoint<String>(.get, .url(server.url))).value == "ok")
        #expect(server.requests.last?.headers["x-app"] == nil && server.requests.count == 2)
    }

    @Test("No stored cookie is sent if the configuration forbids it, or has no storage", arguments: [true, false])
    func noCookies(isStored: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond(headers: ["Set-Cookie": "stored=1; Path=/"], body: request.headers["cookie"] ?? "none")
        }
        if isStored { configuration.httpShouldSetCookies = false } else { configuration.httpCookieStorage = nil }
        let provider = DefaultAPIProvider(configuration: configuration)
        for _ in 0..<2 { #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "none") }
        #expect(configuration.httpCookieStorage?.cookies?.map(\.name) == (isStored ? ["stored"] : nil))
    }

    @Test("A configuration for the background is refused with a sentence")
    func background() async throws {
        #if canImport(FoundationNetworking)
        configuration.identifier = "app.transfers"
        #else
        let configuration = URLSessionConfiguration.background(withIdentifier: "app.transfers")
        #endif
        let single = DefaultAPIProvider(configuration: configuration).request(Endpoint<String>(.get, .url(example)))
        let sentence =
            "The request was not sent: its configuration is for the background, where a transport cannot wait for the response; "
            + "use .default, and a URLSession for transfers in the background."
        #expect("\(try await #require(throws: APIError.self) { try await single.value })" == sentence)
    }

    @Test("A permanent redirect is followed each time it comes")
    func permanentRedirect() async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/old" else { return connection.respond(body: "ok") }
            connection.respond("301 Moved Permanently", headers: ["Location": "/new"])
        }
        let provider = DefaultAPIProvider(configuration: configuration)
        for _ in 0..<2 { #expect(try await provider.request(Endpoint<String>(.get, .url(server.url, "/old"))).value == "ok") }
        #expect(server.requests.last?.target == "/new")
    }

    #if canImport(FoundationNetworking)
    @Test(
        "On Linux a proxy in the configuration, which Foundation ignores, is refused with a sentence, and none is not",
        arguments: [(["HTTPEnable": 1, "HTTPProxy": "127.0.0.1"], true), (["HTTPEnable": 0, "HTTPSEnable": 0], false), ([:], false)]
            as [([String: any Sendable], Bool)])
    func proxy(_ proxies: [String: any Sendable], isRefused: Bool) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        configuration.connectionProxyDictionary = proxies
        let single = DefaultAPIProvider(configuration: configuration).request(Endpoint<String>(.get, .url(server.url)))
        guard isRefused else {
            #expect(try await single.value == "ok")
            return
        }
        let sentence =
            "The request was not sent: its configuration has a connectionProxyDictionary, which Foundation on Linux ignores; name the proxy "
            + "in the environment variables http_proxy and https_proxy instead, or use another transport."
        #expect("\(try await #require(throws: APIError.self) { try await single.value })" == sentence)
        #expect(server.requests.isEmpty)
        configuration.protocolClasses = [TwoHeadsProtocol.self]
        #expect(
            try await DefaultAPIProvider(configuration: configuration).request(Endpoint<String>(.get, .url(example))).value == "part;part;")
    }

    /// A server that ends an HTTP/2 connection with GOAWAY refuses requests that share it.
    @Test("POSTs with a body over https that run at once have connections of their own, which are kept for later ones")
    func connections() async throws {
        let transport = URLSessionTransport(configuration: HeldProtocol.configuration, delegateSession: nil, hasProtocolClass: false)
        let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), transport: transport)
        let body = HTTPBody.data(Data("body".utf8), contentType: "text/plain")
        /// The sessions of two requests at once.
        func sessions(_ method: HTTPMethod, _ headers: HTTPHeaders = [:]) async throws -> Set<ObjectIdentifier?> {
            let request = Endpoint<Void>(method, "/", headers: headers, body: method == .get ? nil : body)
            async let first: Void = provider.request(request).value
            async let second: Void = provider.request(request).value
            let held = await HeldProtocol.started.next(2)
            for (_, task) in held { task.resume() }
            _ = try await (first, second)
            return Set(held.map(\.session))
        }
        let shared = try await sessions(.get)
        #expect(shared.count == 1)
        let own = try await sessions(.post)
        #expect(own.count == 2 && own.isDisjoint(with: shared))
        #expect(try await sessions(.patch) == own)
        #expect(try await sessions(.put) == shared)
        #expect(try await sessions(.post, ["Idempotency-Key": "1"]) == shared)

        // Many servers at once, as webhooks have. Without a limit, the process would run out of descriptors.
        let requests = (0..<110).map { Endpoint<Void>(.post, .url(URL(string: "https://\($0).example.com") ?? example), body: body) }
        async let all: Void = Single.zip(requests.map { provider.request($0) }).map { _ in }.value
        let held = await HeldProtocol.started.next(110)
        #expect(Set(held.map(\.session)).subtracting(shared).count == 100)
        for (_, task) in held { task.resume() }
        try await all
        #expect(try await sessions(.post).isDisjoint(with: shared))
    }
    #endif

    @Test("The delegate of a lent session goes when that session is invalidated, and the provider works on")
    func lentDelegate() async throws {
        final class Delegate: NSObject, URLSessionDelegate {
            let gone: Signals<Void>
            init(gone: Signals<Void>) { self.gone = gone }
            deinit { gone.send(()) }
        }
        let gone = Signals<Void>()
        func lend() -> DefaultAPIProvider {
            let session = URLSession(configuration: .patient, delegate: Delegate(gone: gone), delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            return DefaultAPIProvider(session: session)
        }
        let server = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        let provider = lend()
        await gone.next()
        #expect(try await provider.request(Endpoint<String>(.get, .url(server.url))).value == "ok")
    }

    @Test("If a head comes twice, a download leaves one file with everything that came")
    func secondHead() async throws {
        let (folder, provider) = (TemporaryFolder(), DefaultAPIProvider(configuration: TwoHeadsProtocol.configuration))
        let file = try await provider.request(Endpoint(.get, .url(example), downloadingTo: folder.url("file.bin"))).value
        #expect(try String(contentsOf: file, encoding: .utf8) == "part;part;")
        #expect(try folder.names == ["file.bin"])
    }

    @Test(
        "The length of a body is known unless it is compressed",
        arguments: [(nil, 5), ("", 5), ("Identity", 5), ("gzip", nil), ("GZip", nil)] as [(String?, Int64?)])
    func bodyLength(encoding: String?, length: Int64?) throws {
        let headers = ["Content-Length": "5"].merging(encoding.map { ["Content-Encoding": $0] } ?? [:]) { $1 }
        let response = try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: headers))
        #expect(response.bodyLength == length)
    }

    @Test("A protocol class has taken the whole body when it answers, and progress says so")
    func progressOfProtocol() async throws {
        let log = Log<TransferProgress>()
        let body = HTTPBody.data(Data("body".utf8), contentType: "text/plain")
        let request = Endpoint<String>(.post, .url(example), body: body).onProgress(log.append)
        _ = try await DefaultAPIProvider(configuration: TwoHeadsProtocol.configuration).request(request).value
        #expect(log.entries.first == TransferProgress(bytesSent: 4, bytesToSend: 4))
        #expect(log.entries.last == TransferProgress(bytesSent: 4, bytesToSend: 4, bytesReceived: 10))
    }
}

private final class TwoHeadsProtocol: StubProtocol {
    override func startLoading() {
        for _ in 0..<2 {
            sendHead()
            send("part;")
        }
        finish()
    }
}

#if canImport(FoundationNetworking)
/// Reports the session of each task, and answers when the task is resumed again.
private final class HeldProtocol: StubProtocol {
    static let started = Signals<(session: ObjectIdentifier?, task: URLSessionTask)>()
    private var isHeld = false

    override func startLoading() {
        guard !isHeld, let task else {
            sendHead(204)
            return finish()
        }
        isHeld = true
        let session = Mirror(reflecting: task).superclassMirror?.descendant("session") as? URLSession
        Self.started.send((session.map { ObjectIdentifier($0) }, task))
    }
}
#endif
