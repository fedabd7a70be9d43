@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// The requests that a host gets at once.
extension ExchangeTransportTests {
    @Test("A request frees its place once, and each host has its own places")
    func places() throws {
        let transport = makeTransport { $0.maxRequestsPerHost = 2 }
        for path in ["/a", "/b", "/c", "/d"] { send(path, by: transport) }
        #expect(paths == ["/a", "/b"])
        for _ in 0..<2 { started.entries[1].complete(with: URLError(.cancelled)) }
        #expect(paths == ["/a", "/b", "/c"])
        send("/e", to: try #require(URL(string: "https://other.example.com")), by: transport)
        #expect(paths == ["/a", "/b", "/c", "/e"])
    }

    @Test("A request that is disposed while the network stack starts it is stopped")
    func disposedAtStart() {
        let second = SerialDisposable()
        let transport = makeTransport({ $0.maxRequestsPerHost = 1 }) { [started] _ in
            if started.count == 2 { second.dispose() }
        }
        send("/a", by: transport)
        second.disposable = send("/b", by: transport)
        started.entries[0].complete(with: URLError(.cancelled))
        #expect(stopped.entries.last == "/b")
        #expect(events.entries == ["/a: -999"])
    }

    /// A clock that disposes something when it is read.
    private struct WatchedClock: Scheduler {
        let time = TestScheduler()
        let whenRead = Locked<(any Disposable)?>(nil)

        var now: DispatchTime {
            whenRead.withLock { $0.take() }?.dispose()
            return time.now
        }

        func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
            time.schedule(after: delay, action)
        }
    }

    @Test("A request that is disposed as its turn comes is not sent")
    func disposedAtItsTurn() {
        let clock = WatchedClock()
        let transport = makeTransport(clock: clock) { $0.maxRequestsPerHost = 1 }
        send("/a", by: transport)
        let second = send("/b", by: transport)
        // The transport reads the clock when the turn of a request comes.
        clock.whenRead.withLock { $0 = second }
        started.entries[0].complete(with: URLError(.cancelled))
        #expect(clock.whenRead.withLock { $0 == nil })
        #expect(paths == ["/a"])
    }

    @Test("Of random requests, no more are sent than the limit, in their order, and each that is not disposed is sent")
    func random() {
        var generator = SeededGenerator(seed: 7)
        let transport = makeTransport { $0.maxRequestsPerHost = 3 }
        var (staying, running, sent) = ([(path: String, subscription: any Disposable)](), [Exchange](), [String]())
        var droppedInTime: [String] = []
        func update() {
            running += started.entries[sent.count...]
            sent += started.entries[sent.count...].map(\.request.url.path)
        }
        for number in 0..<3_000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1: staying.append(("/\(number)", send("/\(number)", by: transport)))
            case 2 where !running.isEmpty: running.remove(at: .random(in: running.indices, using: &generator)).complete()
            case 3 where !staying.isEmpty:
                let (path, subscription) = staying.remove(at: .random(in: staying.indices, using: &generator))
                if !sent.contains(path) { droppedInTime.append(path) }
                subscription.dispose()
            default: break
            }
            update()
            #expect(running.count <= 3)
        }
        while let exchange = running.popLast() {
            exchange.complete()
            update()
        }
        let order = sent.compactMap { Int($0.dropFirst()) }
        #expect(order == order.sorted())
        #expect(Set(sent).isSuperset(of: staying.map(\.path)) && Set(sent).isDisjoint(with: droppedInTime))
    }

    #if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
    @Test("A host without requests takes no memory")
    func crawler() async {
        await #expect(processExitsWith: .success) {
            var settings = ExchangeTransport.Settings()
            settings.maxRequestsPerHost = 1
            let clock = ConcurrentDispatchQueueScheduler(qos: .utility)
            let transport = ExchangeTransport(settings, scheduler: clock) { exchange in
                // No error: the testing library keeps a backtrace of each that is thrown.
                _ = exchange.receive(APIResponse(to: exchange.request, statusCode: 204).httpResponse)
                exchange.complete()
                return Disposables.create()
            }
            func crawl(_ hosts: Range<Int>) throws {
                for host in hosts {
                    let url = try #require(URL(string: "https://host\(host).example.com/"))
                    _ = transport.send(PreparedRequest(.get, url)).subscribe(onSuccess: { _ in })
                }
            }
            try crawl(0..<2_000)
            let before = try residentKilobytes()
            try crawl(2_000..<rounds(12_000))
            // 100 bytes for each host would be more.
            let grown = try residentKilobytes() - before
            #expect(grown < 1_000, "\(grown) KB")
        }
    }
    #endif
}
