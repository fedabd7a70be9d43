@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("A transport for your network stack", tenMinutes)
struct ExchangeTransportTests {
    let clock = TestScheduler()
    let started = Log<Exchange>()
    let stopped = Log<String>()
    let events = Log<String>()
    private let bag = DisposeBag()

    var paths: [String] { started.entries.map(\.request.url.path) }

    /// A transport whose network stack is the test. Each event comes before the call that causes it returns.
    func makeTransport(
        clock: (any Scheduler)? = nil, _ change: (inout ExchangeTransport.Settings) -> Void = { _ in },
        onStart: @escaping @Sendable (Exchange) -> Void = { _ in }
    ) -> ExchangeTransport {
        var settings = ExchangeTransport.Settings()
        change(&settings)
        return ExchangeTransport(settings, scheduler: clock ?? self.clock) { [started, stopped] exchange in
            started.append(exchange)
            onStart(exchange)
            return Disposables.create { stopped.append(exchange.request.url.path) }
        }
    }

    @discardableResult
    func send(
        _ path: String, to host: URL = example, by transport: ExchangeTransport, timeout: TimeInterval? = nil
    ) -> any Disposable {
        var request = PreparedRequest(.get, host.appendingPathComponent(path))
        request.timeoutInterval = timeout
        let subscription = transport.send(request).subscribe(
            onSuccess: { [events] in events.append("\(path): \(String(decoding: $0.data, as: UTF8.self))") },
            onFailure: { [events] in events.append("\(path): \(($0 as? APIError)?.urlError?.code.rawValue ?? 0)") })
        subscription.disposed(by: bag)
        return subscription
    }

    private func head(_ fields: [String: String] = [:]) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    @Test(
        "Silence ends a request after its own timeout, or else that of the settings, to the millisecond; one that is not above 0 is the default",
        arguments: [(nil, 0.5, 500), (2.5, 10, 2_500), (60, 10, 60_000), (nil, 0, 60_000), (nil, -1, 60_000)]
            as [(TimeInterval?, TimeInterval, Int)])
    func silence(ofRequest: TimeInterval?, ofSettings: TimeInterval, milliseconds: Int) {
        send("/a", by: makeTransport { $0.timeoutInterval = ofSettings }, timeout: ofRequest)
        clock.advance(by: .milliseconds(milliseconds - 1))
        #expect(events.entries == [])
        clock.advance(by: .milliseconds(1))
        #expect(events.entries == ["/a: -1001"])
        #expect(stopped.entries == ["/a"])
    }

    @Test(
        "Unless a limit is set, a body in memory may have 256 MB, and files and streams have no limit; a set one counts for files, too",
        .longComputing,
        arguments: [
            (nil, 256_000_000, true), (nil, 256_000_001, false), (.some(nil), 256_000_001, true), (10, 10, true), (10, 11, false),
            (256_000_001, 256_000_001, true),
        ] as [(Int??, Int, Bool)])
    func sizes(limit: Int??, size: Int, isAccepted: Bool) async throws {
        let folder = TemporaryFolder()
        var settings = ExchangeTransport.Settings()
        if let limit { settings.maxResponseSize = limit }
        let transport = ExchangeTransport(settings, scheduler: clock) { exchange in
            // The pages of this body are never touched.
            let isWhole = exchange.receive(APIResponse(to: exchange.request).httpResponse) && exchange.receive(Data(count: size))
            exchange.complete(with: isWhole ? nil : URLError(.cancelled))
            return Disposables.create()
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        var error: APIError?
        do { #expect(try await provider.request(Endpoint<Data>(.get, "/")).value.count == size) } catch let thrown as APIError {
            error = thrown
        }
        #expect(error?.urlError?.code == (isAccepted ? nil : .dataLengthExceedsMaximum))
        let hint = "download it to a file, with downloadingTo:, or set the transport's maxResponseSize"
        #expect(error.map { $0.description.contains(hint) == (limit == nil) } ?? true, "\(error as Any)")

        let isInFile = limit == nil || isAccepted
        guard size < 1_000 || limit == nil else { return }
        let file = Endpoint(.get, "/", downloadingTo: folder.url("file"))
        let isSaved = await (try? provider.request(file).value) != nil
        #expect(isSaved == isInFile)
        var count = 0
        for try await bytes in try await provider.request(Endpoint<ByteStream>(.get, "/")).value { count += bytes.count }
        #expect(count == size)
    }

    @Test("The progress of a body comes in steps of 64 KB", arguments: [0, 1, 65_536, 65_537, 200_000])
    func steps(size: Int) {
        let sent = Log<Int64>()
        var request = PreparedRequest(.post, example, body: RequestBody(Data(count: size)))
        request.reportProgress = { sent.append($0.bytesSent) }
        _ = makeTransport(onStart: { $0.didSendBody() }).send(request).subscribe()
        #expect(sent.entries == stride(from: 65_536, to: Int64(size), by: 65_536) + (size > 0 ? [Int64(size)] : []))
    }

    @Test("A connection that is lost asks about the size of the body, if it has more than 64 KB", arguments: [0, 65_536, 65_537])
    func sizeHint(size: Int) async throws {
        let error = Log<any Error>()
        let request = PreparedRequest(.post, example, body: RequestBody(Data(count: size)))
        _ = makeTransport(onStart: { $0.complete(with: URLError(.networkConnectionLost)) }).send(request).subscribe(onFailure: error.append)
        let text = "\(try #require(error.entries.first))"
        #expect(text.contains("does it take a body of \(size) bytes?") == (size > 65_536), "\(text)")
    }

    @Test("Each part that is sent, the head and each part that is received restart the timeout")
    func signsOfLife() throws {
        send("/a", by: makeTransport { $0.timeoutInterval = 1 })
        let exchange = try #require(started.entries.first)
        clock.advance(by: .milliseconds(999))
        exchange.didSend(1, of: 3)
        clock.advance(by: .milliseconds(999))
        #expect(exchange.receive(try head()))
        clock.advance(by: .milliseconds(999))
        #expect(exchange.receive(Data("a".utf8)))
        clock.advance(by: .milliseconds(999))
        #expect(events.entries == [])
        clock.advance(by: .milliseconds(1))
        #expect(events.entries == ["/a: -1001"])
    }

    @Test("The time of a request begins when its turn comes")
    func waiting() {
        let transport = makeTransport { $0.maxRequestsPerHost = 1 }
        for path in ["/a", "/b"] { send(path, by: transport, timeout: 3) }
        clock.advance(by: .seconds(2))
        started.entries[0].complete(with: URLError(.cancelled))
        clock.advance(by: .milliseconds(2_999))
        #expect(events.entries == ["/a: -999"])
        clock.advance(by: .milliseconds(1))
        #expect(events.entries == ["/a: -999", "/b: -1001"])
    }

    @Test("timeoutIntervalForResource counts from the subscription, also for a request that waits and is never sent")
    func resource() {
        let transport = makeTransport { ($0.maxRequestsPerHost, $0.timeoutIntervalForResource) = (1, 2.5) }
        for path in ["/a", "/b"] { send(path, by: transport) }
        clock.advance(by: .milliseconds(2_499))
        #expect(events.entries == [])
        clock.advance(by: .milliseconds(1))
        #expect(Set(events.entries) == ["/a: -1001", "/b: -1001"])
        started.entries[0].complete(with: URLError(.cancelled))
        send("/c", by: transport)
        #expect(paths == ["/a", "/c"])
    }

    @Test("A deadline may pass on another thread while a head or a chunk comes")
    func deadlineDuringCallbacks() async throws {
        // Thread Sanitizer sees more in this than the expectation does.
        let (head, transport) = (try head(), makeTransport { $0.timeoutInterval = 1 })
        for round in 1...rounds(20) {
            send("/", by: transport)
            let exchange = try #require(started.entries.last)
            let expiring = Task.detached { [clock] in clock.advance(by: .seconds(1)) }
            if exchange.receive(head), exchange.receive(Data("ok".utf8)) { _ = exchange.receive(Data("ok".utf8)) }
            await expiring.value
            exchange.complete()
            #expect(events.count == round)
            #expect(["/: -1001", "/: okok"].contains(events.entries.last))
        }
    }

    @Test("Thousands of waiting requests that end as soon as they begin do not overflow the stack")
    func deepQueue() throws {
        let transport = makeTransport({ $0.maxRequestsPerHost = 1 }) { [started] in
            if started.count > 1 { $0.complete(with: URLError(.cancelled)) }
        }
        for number in 0..<5_000 { send("/\(number)", by: transport) }
        let first = try #require(started.entries.first)
        onSmallStack { first.complete(with: URLError(.cancelled)) }
        #expect(events.entries == (0..<5_000).map { "/\($0): -999" })
    }

    @Test("Two different Content-Lengths are an error, and two equal ones count as one", arguments: [("2, 3", "-1017"), ("2, 2", "ok")])
    func lengths(field: String, event: String) throws {
        let head = try head(["Content-Length": field])
        let transport = makeTransport(onStart: { exchange in
            if exchange.receive(head) { _ = exchange.receive(Data("ok".utf8)) }
            exchange.complete()
        })
        send("/a", by: transport)
        #expect(events.entries == ["/a: \(event)"])
    }

    @Test(
        "A compressed body that has a length and decodes to nothing is an error, unless that is the length of nothing",
        arguments: [
            (["Content-Encoding": "GZip", "Content-Length": "8"], "-1015"), (["Content-Encoding": "br", "Content-Length": "900"], "-1015"),
            (["Content-Encoding": "gzip", "Content-Length": "20"], ""), (["Content-Encoding": "gzip", "Content-Length": "0"], ""),
            (["Content-Encoding": "gzip"], ""), (["Content-Encoding": "identity", "Content-Length": "8"], ""),
            (["Content-Encoding": "br", "Content-Length": "1"], ""), (["Content-Encoding": "deflate", "Content-Length": "8"], ""),
            (["Content-Encoding": "zstd", "Content-Length": "9"], ""),
            (["Content-Length": "8"], ""),
        ])
    func decodedToNothing(fields: [String: String], event: String) async throws {
        let head = try head(fields)
        let transport = makeTransport(onStart: { exchange in
            #expect(exchange.receive(head))
            exchange.complete()
        })
        send("/a", by: transport)
        #expect(events.entries == ["/a: \(event)"])
        let stream = try await DefaultAPIProvider(baseURL: example, transport: transport).request(Endpoint<ByteStream>(.get, "/b")).value
        if event.isEmpty {
            #expect(try await stream.all().isEmpty)
        } else {
            await #expect(throws: APIError.self) { try await stream.all() }
        }
    }

    #if os(Linux)
    @Test(
        "The file of a download is closed before its response comes, and gone soon after an error or a dispose, even while the exchange lives"
    )
    func closedFile() async throws {
        let (folder, head, open) = (TemporaryFolder(), try head(), Log<[String]>())
        for error in [nil, URLError(.networkConnectionLost), URLError(.cancelled)] {
            let transport = makeTransport(onStart: { exchange in
                _ = exchange.receive(head) && exchange.receive(Data("a".utf8))
                if error?.code != .cancelled { exchange.complete(with: error) }
            })
            let download = DefaultAPIProvider(baseURL: example, transport: transport)
                .request(Endpoint(.get, "/a", downloadingTo: folder.url("file")))
            let subscription = download.subscribe(
                onSuccess: { _ in open.append(FaultyFiles.openFiles(in: folder.url)) }, onFailure: { _ in })
            subscription.dispose()
            #expect(try await eventually { try FaultyFiles.openFiles(in: folder.url) == [] && Set(folder.names).isSubset(of: ["file"]) })
        }
        #expect(open.entries == [[]])
    }
    #endif

    @Test("Progress drops a total that is exceeded")
    func exceededTotal() async throws {
        let head = try head(["Content-Length": "4"])
        let transport = makeTransport(onStart: { exchange in
            for count in [2, 5] as [Int64] { exchange.didSend(count, of: 3) }
            _ = exchange.receive(head)
            for chunk in ["abc", "de"] { _ = exchange.receive(Data(chunk.utf8)) }
            exchange.complete()
        })
        let log = Log<TransferProgress>()
        var request = PreparedRequest(.get, example)
        request.reportProgress = { log.append($0) }
        _ = try await transport.send(request).value
        #expect(
            log.entries == [
                TransferProgress(bytesSent: 2, bytesToSend: 3), TransferProgress(bytesSent: 5),
                TransferProgress(bytesSent: 5, bytesReceived: 3, bytesToReceive: 4), TransferProgress(bytesSent: 5, bytesReceived: 5),
            ])
    }

    @Test("The body of a redirect is no progress, also if the redirect is the response", arguments: [false, true])
    func redirectProgress(isFollowed: Bool) async throws {
        let transport = makeTransport(onStart: { exchange in
            let isFirst = exchange.request.url.path == "/a"
            let body = Data((isFirst ? "moved" : "ok").utf8)
            let fields: HTTPHeaders = ["Location": "/b", "Content-Length": "\(body.count)"]
            if exchange.receive(APIResponse(to: exchange.request, statusCode: isFirst ? 302 : 200, headers: fields).httpResponse) {
                _ = exchange.receive(body)
            }
            exchange.complete()
        })
        let log = Log<TransferProgress>()
        let endpoint = Endpoint<Data>(.get, "/a").option(\.redirectPolicy, isFollowed ? .follow : .never).onProgress { log.append($0) }
        let data = try await DefaultAPIProvider(baseURL: example, transport: transport).request(endpoint).value
        #expect(data == Data((isFollowed ? "ok" : "moved").utf8))
        #expect(log.entries == (isFollowed ? [TransferProgress(bytesReceived: 2, bytesToReceive: 2)] : []))
    }

    /// A clock that calls `onUse` each time it is used.
    private struct CallingClock: Scheduler {
        let time = TestScheduler()
        let onUse: @Sendable () -> Void

        var now: DispatchTime {
            onUse()
            return time.now
        }

        func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
            onUse()
            let scheduled = time.schedule(after: delay, action)
            return Disposables.create {
                onUse()
                scheduled.dispose()
            }
        }
    }

    @Test("A clock may use the transport and its exchanges, because it is called under no lock")
    func callingClock() throws {
        let (isBusy, transport) = (Locked(false), Locked<ExchangeTransport?>(nil))
        let clock = CallingClock { [started] in
            guard !isBusy.withLock({ exchange(&$0, with: true) }) else { return }
            started.entries.last?.didSend(0, of: nil)
            let other = transport.withLock { $0 }?.send(PreparedRequest(.get, example)).subscribe { _ in }
            other?.dispose()
            isBusy.withLock { $0 = false }
        }
        let transportOfClock = makeTransport(clock: clock) { ($0.maxRequestsPerHost, $0.timeoutInterval) = (nil, 3) }
        transport.withLock { $0 = transportOfClock }
        for (path, timeout) in [("/a", 2), ("/b", 1), ("/c", nil)] as [(String, TimeInterval?)] {
            send(path, by: transportOfClock, timeout: timeout)
        }
        let last = try #require(started.entries.last { $0.request.url.path == "/c" })
        #expect(last.receive(try head()))
        last.complete()
        clock.time.advance(by: .seconds(100))
        #expect(events.entries.contains("/c: "))
        transport.withLock { $0 = nil }
    }

    /// A clock whose disposables keep the action, also after it has run, as a `DispatchWorkItem` does.
    private struct KeepingClock: Scheduler {
        final class Timer: Disposable {
            let action: @Sendable () -> Void

            init(_ action: @escaping @Sendable () -> Void) { self.action = action }

            func dispose() {}
        }

        let time = TestScheduler()
        let timers = Log<@Sendable () -> Timer?>()
        var now: DispatchTime { time.now }

        func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
            let timer = Timer(action)
            timers.append { [weak timer] in timer }
            _ = time.schedule(after: delay, action)
            return timer
        }
    }

    @Test("Nothing is kept of a timer that has run")
    func timersThatHaveRun() throws {
        let clock = KeepingClock()
        send("/a", by: makeTransport(clock: clock) { $0.timeoutInterval = 1 })
        clock.time.advance(by: .milliseconds(500))
        started.entries.first?.didSend(0, of: nil)
        clock.time.advance(by: .seconds(1))
        #expect(events.entries == ["/a: -1001"])
        #expect(clock.timers.entries.map { $0() == nil } == [true, true])
    }

    @Test("A timer that is replaced by an earlier one is not kept")
    func timersThatAreReplaced() {
        let clock = KeepingClock()
        let transport = makeTransport(clock: clock)
        send("/a", by: transport, timeout: 60)
        send("/b", by: transport, timeout: 1)
        // The clock itself keeps only its actions.
        #expect(clock.timers.entries.map { $0() == nil } == [true, false])
    }

    @Test("A request that has been active keeps its place when its timer fires")
    func placeOfActiveRequest() {
        let transport = makeTransport {
            $0.timeoutInterval = 2
            $0.maxRequestsPerHost = 1
        }
        for path in ["/a", "/b", "/c"] { send(path, by: transport) }
        clock.advance(by: .seconds(1))
        started.entries.first?.didSend(0, of: nil)
        clock.advance(by: .milliseconds(1_500))
        #expect(paths == ["/a"] && events.entries == [])
        started.entries.first?.complete(with: URLError(.badServerResponse))
        #expect(paths == ["/a", "/b"])
    }

    @Test("The metrics of a response tell the time until the first of its heads, and the time from then on")
    func metrics() async throws {
        let head = try head()
        @Sendable func takeTwoMilliseconds() {
            let end = DispatchTime.now() + .milliseconds(2)
            while DispatchTime.now() < end {}
        }
        let transport = makeTransport(onStart: { exchange in
            for _ in 0..<2 {
                takeTwoMilliseconds()
                _ = exchange.receive(head)
            }
            takeTwoMilliseconds()
            exchange.complete()
        })
        let start = DispatchTime.now().uptimeNanoseconds
        let metrics = try #require(try await transport.send(PreparedRequest(.get, example)).value.metrics)
        #expect(metrics.timeToFirstByte >= 0.002 && metrics.bodyDuration >= 0.004)
        let whole = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        #expect(metrics.queueDuration >= 0 && metrics.queueDuration + metrics.timeToFirstByte + metrics.bodyDuration <= whole)

        // The response of a stream is delivered before its body.
        var streamed = PreparedRequest(.get, example)
        streamed.bodyDestination = .stream()
        let streamMetrics = try #require(try await transport.send(streamed).value.metrics)
        #expect(streamMetrics.timeToFirstByte >= 0.002 && streamMetrics.bodyDuration == 0)
    }

    @Test("A transport keeps nothing of a request that has ended or was disposed", arguments: [false, true])
    func nothingKept(isDisposed: Bool) async throws {
        let transport = ExchangeTransport { exchange in
            if !isDisposed { exchange.complete(with: URLError(.cancelled)) }
            return Disposables.create { exchange.complete(with: URLError(.cancelled)) }
        }
        weak var held: Token?
        do {
            let token = Token()
            held = token
            var request = PreparedRequest(.get, example)
            request.reportProgress = { _ in withExtendedLifetime(token) {} }
            let subscription = transport.send(request).subscribe(onFailure: { _ in })
            if isDisposed { subscription.dispose() }
        }
        // The thread that delivers the event holds the rest until it returns.
        #expect(await eventually { held == nil })
        withExtendedLifetime(transport) {}
    }

    @Test("The example of the documentation answers")
    func documented() async throws {
        let stack = Stack()
        let transport = ExchangeTransport { exchange in
            let task = stack.send(
                exchange.request,
                onHead: { head in exchange.receive(head) },
                onBody: { chunk in exchange.receive(chunk) },
                onEnd: { error in exchange.complete(with: error) })
            return Disposables.create { task.cancel() }
        }
        #expect(try await transport.send(PreparedRequest(.get, example)).value.data == Data("body".utf8))
    }

    @Test(
        "An end without a response is an error, and a stack that has ended before its start returns is not stopped",
        arguments: [true, false])
    func noResponse(isAtOnce: Bool) {
        send("/a", by: makeTransport(onStart: { if isAtOnce { $0.complete() } }))
        started.entries.first?.complete()
        #expect(events.entries == ["/a: -1011"])
        if isAtOnce { #expect(stopped.entries == []) }
    }

    @Test("A body that cannot be read makes the request invalid")
    func invalidBody() async throws {
        let transport = makeTransport(onStart: { $0.complete(with: APIError.invalidRequest(reason: "no file", underlying: nil)) })
        let error = try await #require(throws: APIError.self) { try await transport.send(PreparedRequest(.get, example)).value }
        #expect(error.description == "The request was not sent: no file.")
    }
}

/// The network stack of the documentation's example. It answers at once.
private struct Stack {
    struct Task {
        func cancel() {}
    }

    func send(
        _ request: PreparedRequest, onHead: (HTTPURLResponse) -> Bool, onBody: (Data) -> Bool, onEnd: ((any Error)?) -> Void
    ) -> Task {
        if onHead(APIResponse(to: request).httpResponse) { _ = onBody(Data("body".utf8)) }
        onEnd(nil)
        return Task()
    }
}
