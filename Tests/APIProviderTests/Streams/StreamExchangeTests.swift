import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// With a user's network stack, in virtual time.
@Suite(tenMinutes)
struct StreamExchangeTests {
    private let scheduler = TestScheduler()
    private let started = Signals<Exchange>()
    private let stopped = Signals<Void>()

    private func makeProvider() -> DefaultAPIProvider {
        var settings = ExchangeTransport.Settings()
        settings.timeoutInterval = 10
        settings.timeoutIntervalForResource = 60
        settings.maxResponseSize = 10
        let transport = ExchangeTransport(settings, scheduler: scheduler) { [started, stopped] exchange in
            started.send(exchange)
            return Disposables.create { stopped.send(()) }
        }
        return DefaultAPIProvider(baseURL: example, transport: transport)
    }

    /// Sends a request, and answers with the head.
    private func open() async throws -> (exchange: Exchange, bytes: ByteStream.AsyncIterator) {
        async let bytes = makeProvider().request(Endpoint<ByteStream>(.get, "/")).value
        let exchange = try #require(await started.next())
        #expect(exchange.receive(APIResponse(to: exchange.request).response))
        return (exchange, try await bytes.makeAsyncIterator())
    }

    @Test func silenceDoesNotCountWhileTheReaderIsBehindAndCountsFromThenOn() async throws {
        var (exchange, bytes) = try await open()
        let log = Log<String>()
        #expect(exchange.receive(Data(count: StreamBuffer.highWaterMark)))
        exchange.whenReady(log.adds("ready"))
        scheduler.advance(by: .seconds(1000))
        #expect(log.entries == [])

        #expect(try await bytes.next()?.count == StreamBuffer.highWaterMark)
        #expect(log.entries == ["ready"])
        scheduler.advance(by: .milliseconds(9999))
        #expect(exchange.receive(Data("a".utf8)))
        #expect(try await bytes.next() == Data("a".utf8))
        scheduler.advance(by: .seconds(10))
        let error = await #expect(throws: APIError.self) { try await bytes.next() }
        #expect(error?.urlError?.code == .timedOut)
        await stopped.next()
    }

    @Test func aReaderThatCatchesUpWithASilentServerTimesOut() async throws {
        var (exchange, bytes) = try await open()
        #expect(exchange.receive(Data(count: StreamBuffer.highWaterMark)))
        scheduler.advance(by: .seconds(1000))
        #expect(try await bytes.next()?.count == StreamBuffer.highWaterMark)
        scheduler.advance(by: .seconds(10))
        await stopped.next()
        let error = await #expect(throws: APIError.self) { try await bytes.next() }
        #expect(error?.urlError?.code == .timedOut)
    }

    @Test func aReaderThatLeavesStopsTheStackAndTakesNoMore() async throws {
        let exchange = try await open().exchange
        await stopped.next()
        #expect(!exchange.receive(Data("a".utf8)))
        exchange.complete()
    }

    @Test func neitherTheWholeTimeNorTheWholeSizeIsLimited() async throws {
        var (exchange, bytes) = try await open()
        for _ in 0..<20 {
            scheduler.advance(by: .seconds(9))
            #expect(exchange.receive(Data("abc".utf8)))
            #expect(try await bytes.next() == Data("abc".utf8))
        }
        exchange.complete()
        #expect(try await bytes.next() == nil)
    }

    @Test func aReaderThatIsBehindIsWaitedForOnce() async throws {
        let clock = CountingClock()
        let transport = ExchangeTransport(ExchangeTransport.Settings(), scheduler: clock) { [started] exchange in
            started.send(exchange)
            return Disposables.create()
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        async let stream = provider.request(Endpoint<ByteStream>(.get, "/")).value
        let exchange = try #require(await started.next())
        #expect(exchange.receive(APIResponse(to: exchange.request).response))
        var bytes = try await stream.makeAsyncIterator()
        #expect(exchange.receive(Data(count: StreamBuffer.highWaterMark)))
        for _ in 0..<1_000 { #expect(exchange.receive(Data("a".utf8))) }
        let before = clock.readings
        for _ in 0..<1_001 { _ = try await bytes.next() }
        // Whoever waits for the reader begins the silence anew.
        #expect(clock.readings - before < 5)
    }
}

/// A clock that counts how often it is read.
private final class CountingClock: Scheduler {
    private let time = TestScheduler()
    private let count = Locked(0)

    var readings: Int { count.withLock { $0 } }

    var now: DispatchTime {
        count.withLock { $0 += 1 }
        return time.now
    }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        time.schedule(after: delay, action)
    }
}
