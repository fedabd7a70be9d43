#if canImport(FoundationNetworking)
@_spi(Transports) import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

/// A session's timers are not exact on Linux, so the transport has its own. `ExchangeTransportTests` tests their rules.
@Suite("Timeouts and connections of a session, on Linux", tenMinutes)
struct TimeoutTests {
    private let scheduler = TestScheduler()
    private let configuration = URLSessionConfiguration.patient
    private let requests = Signals<String>()
    private let events = Signals<String>()

    private func makeProvider() -> DefaultAPIProvider {
        DefaultAPIProvider(transport: URLSessionTransport(configuration: configuration, delegateSession: nil, scheduler: scheduler))
    }

    private func silentServer() throws -> LoopbackServer {
        try LoopbackServer { [requests] request, connection in
            requests.send(request.target)
            connection.waitUntilClosed()
        }
    }

    @discardableResult
    private func send(_ path: String, to url: URL, by provider: DefaultAPIProvider, timeout: TimeInterval? = nil) -> any Disposable {
        provider.request(Endpoint<String>(.get, .url(url, RequestPath(path)), timeoutInterval: timeout)).subscribe(
            onFailure: { [events] in events.send("\(path): \(($0 as? APIError)?.urlError?.code.rawValue ?? 0)") })
    }

    @Test("A silent server times out after the time of the configuration, to the millisecond")
    func silence() async throws {
        let server = try silentServer()
        configuration.timeoutIntervalForRequest = 2.5
        send("/a", to: server.url, by: makeProvider())
        await requests.next()
        scheduler.advance(by: .milliseconds(2_499))
        events.send("a millisecond before")
        scheduler.advance(by: .milliseconds(1))
        #expect(await events.next(2) == ["a millisecond before", "/a: -1001"])
        await server.allClosed()
    }

    @Test("A connection is free again after a timeout, and after a dispose")
    func freed() async throws {
        let server = try silentServer()
        configuration.httpMaximumConnectionsPerHost = 1
        let provider = makeProvider()
        send("/a", to: server.url, by: provider, timeout: 1)
        let second = send("/b", to: server.url, by: provider)
        let third = send("/c", to: server.url, by: provider)
        #expect(await requests.next() == "/a")
        scheduler.advance(by: .seconds(1))
        #expect(await events.next() == "/a: -1001")
        #expect(await requests.next() == "/b")
        second.dispose()
        #expect(await requests.next() == "/c")
        third.dispose()
    }

    @Test("Timeouts hold for a protocol class, whose requests do not wait for each other")
    func protocolClass() async throws {
        configuration.protocolClasses = [SilentProtocol.self]
        configuration.httpMaximumConnectionsPerHost = 1
        let provider = makeProvider()
        for path in ["/a", "/b"] { send(path, to: example, by: provider, timeout: 0.5) }
        #expect(await Set(SilentProtocol.started.next(2)) == ["/a", "/b"])
        scheduler.advance(by: .milliseconds(500))
        #expect(await Set(events.next(2)) == ["/a: -1001", "/b: -1001"])
    }
}

private final class SilentProtocol: StubProtocol {
    static let started = Signals<String>()

    override func startLoading() { Self.started.send(request.url?.path ?? "") }
}
#endif
