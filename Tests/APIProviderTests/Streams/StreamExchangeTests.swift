@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

@Suite("Streams in virtual time", tenMinutes)
struct StreamExchangeTests {
    private let scheduler = TestScheduler()
    private let started = Signals<Exchange>()
    private let stopped = Signals<Void>()

    /// Sends a request to a network stack that answers with the head.
    private func open() async throws -> (exchange: Exchange, bytes: ByteStream.AsyncIterator) {
        var settings = ExchangeTransport.Settings()
        (settings.timeoutInterval, settings.timeoutIntervalForResource, settings.maxResponseSize) = (10, 60, 10)
        let transport = ExchangeTransport(settings, scheduler: scheduler) { [started, stopped] exchange in
            started.send(exchange)
            return Disposables.create { stopped.send(()) }
        }
        async let bytes = DefaultAPIProvider(baseURL: example, transport: transport).request(Endpoint<ByteStream>(.get, "/")).value
        let exchange = try #require(await started.next())
        #expect(exchange.receive(APIResponse(to: exchange.request).httpResponse))
        return (exchange, try await bytes.makeAsyncIterator())
    }

    @Test("Silence does not count while the reader is behind, and counts from then on", arguments: [true, false])
    func silence(sendsMore: Bool) async throws {
        var (exchange, bytes) = try await open()
        let log = Log<String>()
        #expect(exchange.receive(Data(count: StreamBuffer.highWaterMark)))
        exchange.onWritable(log.adds("ready"))
        scheduler.advance(by: .seconds(1000))
        #expect(log.entries == [])

        #expect(try await bytes.next()?.count == StreamBuffer.highWaterMark)
        #expect(log.entries == ["ready"])
        if sendsMore {
            scheduler.advance(by: .milliseconds(9999))
            #expect(exchange.receive(Data("a".utf8)))
            #expect(try await bytes.next() == Data("a".utf8))
        }
        scheduler.advance(by: .seconds(10))
        await stopped.next()
        let error = await #expect(throws: APIError.self) { try await bytes.next() }
        #expect(error?.urlError?.code == .timedOut)
    }

    @Test("A stream has no limit for its whole time or size")
    func unlimited() async throws {
        var (exchange, bytes) = try await open()
        for _ in 0..<20 {
            scheduler.advance(by: .seconds(9))
            #expect(exchange.receive(Data("abc".utf8)))
            #expect(try await bytes.next() == Data("abc".utf8))
        }
        exchange.complete()
        #expect(try await bytes.next() == nil)
    }
}
