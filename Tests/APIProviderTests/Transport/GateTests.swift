import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The requests that a host gets at once", tenMinutes)
struct GateTests {
    private let started = Log<Exchange>()
    private let events = Signals<String>()

    private var paths: [String?] { started.entries.map(\.request.url.path) }

    private func makeTransport(maxRequestsPerHost: Int, _ start: @escaping @Sendable (Exchange) -> Void = { _ in }) -> ExchangeTransport {
        var settings = ExchangeTransport.Settings()
        settings.maxRequestsPerHost = maxRequestsPerHost
        return ExchangeTransport(settings, scheduler: TestScheduler(), executor: .immediate) { [started] exchange in
            started.append(exchange)
            start(exchange)
            return Disposables.create()
        }
    }

    private func send(_ path: String, to host: URL = example, by transport: ExchangeTransport) -> any Disposable {
        transport.send(PreparedRequest(.get, host.appendingPathComponent(path)))
            .subscribe(onSuccess: { _ in }, onFailure: { [events] _ in events.send(path) })
    }

    private func complete(_ exchange: Exchange) { exchange.complete(with: URLError(.cancelled)) }

    @Test("Those that wait are sent in their order, one for each that the network stack has ended")
    func order() {
        let transport = makeTransport(maxRequestsPerHost: 2)
        let all = ["/a", "/b", "/c", "/d", "/e"].map { send($0, by: transport) }
        #expect(paths == ["/a", "/b"])
        complete(started.entries[1])
        #expect(paths == ["/a", "/b", "/c"])
        // Only the first end counts.
        complete(started.entries[1])
        #expect(paths == ["/a", "/b", "/c"])
        complete(started.entries[0])
        complete(started.entries[2])
        #expect(paths == ["/a", "/b", "/c", "/d", "/e"])
        withExtendedLifetime(all) {}
    }

    @Test("A place is free when the network stack has ended, and not when somebody disposes")
    func disposedWhileRunning() {
        let transport = makeTransport(maxRequestsPerHost: 1)
        let all = ["/a", "/b"].map { send($0, by: transport) }
        all[0].dispose()
        #expect(paths == ["/a"])
        complete(started.entries[0])
        #expect(paths == ["/a", "/b"])
    }

    @Test("A request that is disposed while it waits is not sent, and takes no place")
    func disposedWhileWaiting() {
        let transport = makeTransport(maxRequestsPerHost: 1)
        let all = ["/a", "/b", "/c"].map { send($0, by: transport) }
        all[1].dispose()
        complete(started.entries[0])
        #expect(paths == ["/a", "/c"])
    }

    @Test("A request that ends as it starts makes room for the next")
    func endsAtOnce() {
        let transport = makeTransport(maxRequestsPerHost: 1) { $0.complete(with: URLError(.cancelled)) }
        let all = (0..<3).map { send("/\($0)", by: transport) }
        #expect(paths == ["/0", "/1", "/2"])
        withExtendedLifetime(all) {}
    }

    @Test("Each host has its own places")
    func hosts() throws {
        let transport = makeTransport(maxRequestsPerHost: 1)
        let other = try #require(URL(string: "https://other.example.com"))
        let all = [send("/a", by: transport), send("/b", by: transport), send("/c", to: other, by: transport)]
        #expect(paths == ["/a", "/c"])
        withExtendedLifetime(all) {}
    }

    @Test("However requests come and go, no more are sent than may be, and each that stays is")
    func random() {
        var generator = SeededGenerator(seed: 7)
        let transport = makeTransport(maxRequestsPerHost: 3)
        var (waiting, ended) = ([any Disposable](), 0)
        var (running, sent) = ([Exchange](), 0)
        for number in 0..<3_000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1: waiting.append(send("/\(number)", by: transport))
            case 2 where !running.isEmpty:
                complete(running.remove(at: Int.random(in: running.indices, using: &generator)))
                ended += 1
            case 3 where waiting.count > 3:
                // Only a request that has been sent keeps its place.
                waiting.remove(at: Int.random(in: waiting.indices, using: &generator)).dispose()
            default: break
            }
            let new = started.entries[sent...]
            sent += new.count
            running += new
            #expect(running.count <= 3)
        }
        while !running.isEmpty {
            complete(running.removeFirst())
            let new = started.entries[sent...]
            sent += new.count
            running += new
        }
        let order = started.entries.compactMap { Int($0.request.url.lastPathComponent) }
        #expect(order == order.sorted())
    }

    @Test("With an executor that runs closures at once, the event comes before subscribe returns")
    func immediate() throws {
        let head = try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: nil))
        let transport = makeTransport(maxRequestsPerHost: 1) { exchange in
            if exchange.receive(head) { _ = exchange.receive(Data("ok".utf8)) }
            exchange.complete()
        }
        let bodies = Log<Data>()
        _ = transport.send(PreparedRequest(.get, example)).subscribe(onSuccess: { bodies.append($0.data) })
        #expect(bodies.entries == [Data("ok".utf8)])
    }

    #if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
    @Test("Hosts to which no request goes leave nothing", .longComputing)
    func crawler() async {
        await #expect(processExitsWith: .success) {
            var settings = ExchangeTransport.Settings()
            settings.maxRequestsPerHost = 1
            let clock = ConcurrentDispatchQueueScheduler(qos: .utility)
            let transport = ExchangeTransport(settings, scheduler: clock, executor: .immediate) { exchange in
                // No error: the testing library keeps a backtrace of each that is thrown.
                if let head = HTTPURLResponse(url: exchange.request.url, statusCode: 204, httpVersion: nil, headerFields: nil) {
                    _ = exchange.receive(head)
                }
                exchange.complete()
                return Disposables.create()
            }
            func crawl(_ hosts: Range<Int>) {
                for host in hosts {
                    guard let url = URL(string: "https://host\(host).example.com/") else { return }
                    _ = transport.send(PreparedRequest(.get, url)).subscribe(onSuccess: { _ in })
                }
            }
            crawl(0..<2_000)
            let before = try residentKilobytes()
            crawl(2_000..<rounds(30_000))
            // 70 bytes for each host would be more.
            let grown = try residentKilobytes() - before
            #expect(grown < 2_000, "\(grown) KB")
        }
    }
    #endif
}
