import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Metrics", tenMinutes)
struct MetricsTests {
    private let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    @Test("A response says how long its parts took")
    func parts() async throws {
        let held = Locked(0.0)
        let server = try LoopbackServer { _, connection in
            let start = DispatchTime.now().uptimeNanoseconds
            // Something that takes a moment.
            let body = (0..<10_000).reduce(into: "") { $0 += "\($1)" }
            held.withLock { $0 = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }
            connection.respond(body: body)
        }
        let start = DispatchTime.now().uptimeNanoseconds
        let response = try await provider.request(Endpoint<String>(.get, .url(server.url)).withResponse()).value.response
        let whole = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        let metrics = try #require(response.metrics)
        #expect(metrics.firstByte >= held.withLock { $0 })
        #expect(metrics.waiting >= 0 && metrics.body >= 0)
        #expect(metrics.waiting + metrics.firstByte + metrics.body <= whole)
    }

    @Test("The first byte is that of the first of several heads")
    func severalHeads() async throws {
        let transport = ExchangeTransport { exchange in
            let start = DispatchTime.now()
            while DispatchTime.now() < start + .milliseconds(2) {}
            for _ in 0..<2 { _ = exchange.receive(APIResponse(to: exchange.request).response) }
            exchange.complete()
            return Disposables.create()
        }
        let response = try await transport.send(PreparedRequest(.get, example)).value
        #expect(try #require(response.metrics).firstByte >= 0.002)
    }
}
