import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// A network stack as somebody may have one: it answers when a test says so, and never calls back by itself.
private final class Stack: Sendable {
    struct Sending: Sendable {
        let request: PreparedRequest
        let onHead: @Sendable (HTTPURLResponse) -> Bool
        let onBody: @Sendable (Data) -> Bool
        let onEnd: @Sendable ((any Error)?) -> Void
        let task: Task

        func answer(_ status: Int = 200, _ headers: [String: String] = [:], body: String = "") {
            guard let head = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers) else {
                return
            }
            if onHead(head) { _ = onBody(Data(body.utf8)) }
            onEnd(nil)
        }
    }

    final class Task: Sendable {
        let cancelled = Signals<Void>()
        func cancel() { cancelled.send(()) }
    }

    let sendings = Log<Sending>()
    let sent = Signals<Sending>()

    var requests: [PreparedRequest] { sendings.entries.map(\.request) }

    func send(
        _ request: PreparedRequest, onHead: @escaping @Sendable (HTTPURLResponse) -> Bool, onBody: @escaping @Sendable (Data) -> Bool,
        onEnd: @escaping @Sendable ((any Error)?) -> Void
    ) -> Task {
        let task = Task()
        let sending = Sending(request: request, onHead: onHead, onBody: onBody, onEnd: onEnd, task: task)
        sendings.append(sending)
        sent.send(sending)
        return task
    }
}

@Suite("A transport for a user's network stack", tenMinutes)
struct ExchangeTransportTests {
    private let stack = Stack()
    private let events = Signals<String>()

    private func settings(_ change: (inout ExchangeTransport.Settings) -> Void) -> ExchangeTransport.Settings {
        var settings = ExchangeTransport.Settings()
        // Longer than any test waits on a busy machine.
        settings.timeoutInterval = 600
        change(&settings)
        return settings
    }

    private func head(_ fields: [String: String] = [:]) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: example, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    private func makeTransport(_ change: (inout ExchangeTransport.Settings) -> Void = { _ in }) -> ExchangeTransport {
        ExchangeTransport(settings(change)) { [stack] exchange in
            let task = stack.send(
                exchange.request,
                onHead: { head in exchange.receive(head) },
                onBody: { chunk in exchange.receive(chunk) },
                onEnd: { error in exchange.complete(with: error) })
            return Disposables.create { task.cancel() }
        }
    }

    /// A transport that sends nothing by itself: the test tells each exchange what comes.
    private func makeTransport(
        logging started: Log<Exchange>, _ scheduler: TestScheduler, _ change: (inout ExchangeTransport.Settings) -> Void
    ) -> ExchangeTransport {
        ExchangeTransport(settings(change), scheduler: scheduler) { exchange in
            started.append(exchange)
            return Disposables.create()
        }
    }

    @discardableResult
    private func send(_ path: String, by transport: ExchangeTransport) -> any Disposable {
        DefaultAPIProvider(baseURL: example, transport: transport).request(Endpoint<String>(.get, RequestPath(path))).subscribe(
            onSuccess: { [events] in events.send($0) },
            onFailure: { [events] in events.send("\(($0 as? APIError)?.urlError?.code.rawValue ?? 0)") })
    }

    @Test("It sends and answers; a redirect is followed, with the cookie that it sets and without credentials for another origin")
    func redirect() async throws {
        let transport = makeTransport {
            $0.cookies = URLSessionConfiguration.ephemeral.httpCookieStorage
            $0.additionalHeaders = ["Accept-Language": "en", "Authorization": "Bearer t0ken"]
        }
        send("/a", by: transport)
        let first = try #require(await stack.sent.next())
        #expect(first.request.headers["Authorization"] == "Bearer t0ken")
        first.answer(302, ["Location": "https://api.example.com/b", "Set-Cookie": "a=1; Path=/"])
        let second = try #require(await stack.sent.next())
        #expect(second.request.url.absoluteString == "https://api.example.com/b")
        #expect(second.request.headers["Cookie"] == "a=1")
        second.answer(302, ["Location": "https://other.example.com/c"])
        let third = try #require(await stack.sent.next())
        #expect(third.request.headers["Authorization"] == nil)
        #expect(third.request.headers["Cookie"] == nil)
        #expect(third.request.headers["Accept-Language"] == "en")
        third.answer(body: "there")
        #expect(await events.next() == "there")
    }

    @Test("A host gets as many requests as there are connections; the others wait, in their order")
    func queue() async throws {
        let transport = makeTransport { $0.maxRequestsPerHost = 2 }
        let subscriptions = (0..<5).map { send("/\($0)", by: transport) }
        #expect(stack.requests.map { $0.url.path } == ["/0", "/1"])
        subscriptions[2].dispose()
        // A connection is free when the stack has ended what is cancelled.
        subscriptions[0].dispose()
        #expect(await stack.sendings.entries[0].task.cancelled.next() != nil)
        #expect(stack.sendings.count == 2)
        stack.sendings.entries[0].onEnd(URLError(.cancelled))
        #expect(stack.requests.map { $0.url.path } == ["/0", "/1", "/3"])
        stack.sendings.entries[1].answer(body: "one")
        #expect(await events.next() == "one")
        #expect(stack.requests.map { $0.url.path } == ["/0", "/1", "/3", "/4"])
        // Another host has its own places.
        let other = try #require(URL(string: "https://other.example.com/5"))
        _ = transport.send(PreparedRequest(.get, other)).subscribe()
        #expect(stack.requests.map { $0.url.path } == ["/0", "/1", "/3", "/4", "/5"])
    }

    @Test("A body that is too large is refused at once, and the single fails")
    func tooLarge() async throws {
        send("/a", by: makeTransport { $0.maxResponseSize = 3 })
        let sending = try #require(stack.sendings.entries.first)
        #expect(!sending.onBody(Data("four".utf8)))
        #expect(await events.next() == "-1103")
        #expect(!sending.onBody(Data("more".utf8)))
    }

    @Test("Silence ends in a timeout, also while the stack connects")
    func timeout() async throws {
        send("/a", by: makeTransport { $0.timeoutInterval = 0.05 })
        #expect(await events.next() == "-1001")
        #expect(await stack.sendings.entries[0].task.cancelled.next() != nil)
    }

    @Test("Sending a part of the body begins the time anew")
    func upload() async throws {
        let (scheduler, started) = (TestScheduler(), Log<Exchange>())
        let transport = makeTransport(logging: started, scheduler) { $0.timeoutInterval = 0.5 }
        let both = ["/a", "/silent"].map { send($0, by: transport) }
        let exchange = try #require(started.entries.first)
        for count in 1...3 as ClosedRange<Int64> {
            scheduler.advance(by: .milliseconds(400))
            exchange.sent(count, of: 3)
        }
        #expect(await events.next() == "-1001")
        _ = exchange.receive(try head())
        exchange.complete()
        #expect(await events.next() == "")
        withExtendedLifetime(both) {}
    }

    @Test("A request whose time is over while it waits for a connection is not sent, and leaves the connection to the next")
    func lateInQueue() async throws {
        let transport = makeTransport { ($0.maxRequestsPerHost, $0.timeoutIntervalForResource) = (1, 0.05) }
        send("/a", by: transport)
        let late = transport.send(PreparedRequest(.get, example.appendingPathComponent("b")))
            .subscribe(onFailure: { [events] _ in events.send("late") })
        #expect(await Set(events.next(2)) == ["-1001", "late"])
        let first = try #require(stack.sendings.entries.first)
        #expect(await first.task.cancelled.next() != nil)
        first.onEnd(URLError(.cancelled))
        #expect(stack.requests.map { $0.url.path } == ["/a"])
        withExtendedLifetime(late) {}
        send("/c", by: transport)
        #expect(stack.requests.map { $0.url.path } == ["/a", "/c"])
    }

    @Test("A deadline may pass while a head or a chunk comes, on another thread")
    func deadlineDuringCallbacks() async throws {
        // Thread Sanitizer sees more in this than the expectation does.
        let head = try head()
        for _ in 0..<rounds(200) {
            let (scheduler, started) = (TestScheduler(), Log<Exchange>())
            let transport = makeTransport(logging: started, scheduler) { $0.timeoutInterval = 1 }
            let subscription = send("/", by: transport)
            let exchange = try #require(started.entries.first)
            let expiring = Task.detached { scheduler.advance(by: .seconds(1)) }
            if exchange.receive(head), exchange.receive(Data("ok".utf8)) { _ = exchange.receive(Data("ok".utf8)) }
            await expiring.value
            exchange.complete()
            #expect(["-1001", "okok"].contains(await events.next()))
            withExtendedLifetime(subscription) {}
        }
    }

    @Test("Thousands of waiting requests that end as soon as they begin do not overflow the stack")
    func deepQueue() async throws {
        let held = Log<Exchange>()
        let transport = ExchangeTransport(settings { $0.maxRequestsPerHost = 1 }) { exchange in
            if held.count == 0 { held.append(exchange) } else { exchange.complete(with: URLError(.cancelled)) }
            return Disposables.create()
        }
        let all = (0..<5_000).map { _ in send("/", by: transport) }
        let first = try #require(held.entries.first)
        let thread = Thread { first.complete(with: URLError(.cancelled)) }
        thread.stackSize = 512 << 10
        thread.start()
        #expect(await events.next(5_000).allSatisfy { $0 == "-999" })
        withExtendedLifetime(all) {}
    }

    @Test("Two different Content-Lengths are an error, and two equal ones count as one", arguments: [("2, 3", "-1017"), ("2, 2", "ok")])
    func lengths(field: String, event: String) async throws {
        let head = try head(["Content-Length": field])
        send(
            "/a",
            by: ExchangeTransport(settings { _ in }) { exchange in
                if exchange.receive(head) { _ = exchange.receive(Data("ok".utf8)) }
                exchange.complete()
                return Disposables.create()
            })
        #expect(await events.next() == event)
    }

    @Test("A total that is exceeded is told no longer")
    func exceededTotal() async throws {
        let head = try head(["Content-Length": "4"])
        let transport = ExchangeTransport { exchange in
            for count in [2, 5] as [Int64] { exchange.sent(count, of: 3) }
            _ = exchange.receive(head)
            for chunk in ["abc", "de"] { _ = exchange.receive(Data(chunk.utf8)) }
            exchange.complete()
            return Disposables.create()
        }
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

    @Test("A secure cookie goes to an HTTPS URL, however its scheme is written", arguments: ["https", "HTTPS", "http"])
    func secureCookie(scheme: String) throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let url = try #require(URL(string: "https://a.example/"))
        storage.setCookies(
            HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=1; Path=/; Secure"], for: url), for: url, mainDocumentURL: nil)
        let request = PreparedRequest(.get, try #require(URL(string: "\(scheme)://a.example/")))
        let subscription = makeTransport { $0.cookies = storage }.send(request).subscribe()
        #expect(stack.requests.first?.headers["Cookie"] == (scheme == "http" ? nil : "a=1"))
        withExtendedLifetime(subscription) {}
    }

    @Test("A request that is disposed while the network stack starts it is stopped")
    func disposedAtStart() throws {
        let (started, waiting, stopped) = (Log<Exchange>(), Log<any Disposable>(), Log<String>())
        let transport = ExchangeTransport(settings { $0.maxRequestsPerHost = 1 }) { exchange in
            started.append(exchange)
            waiting.entries.last?.dispose()
            return Disposables.create {
                stopped.append(exchange.request.url.path)
                exchange.complete(with: URLError(.cancelled))
            }
        }
        let first = send("/a", by: transport)
        waiting.append(send("/b", by: transport))
        started.entries.first?.complete(with: URLError(.cancelled))
        #expect(stopped.entries == ["/b"])
        withExtendedLifetime(first) {}
    }

    @Test("A transport keeps nothing of a request that has ended or was disposed", arguments: [false, true])
    func nothingKept(isDisposed: Bool) async throws {
        let transport = ExchangeTransport { exchange in
            if !isDisposed { exchange.complete(with: URLError(.cancelled)) }
            return Disposables.create { exchange.complete(with: URLError(.cancelled)) }
        }
        weak var held: Stack?
        do {
            let listener = Stack()
            held = listener
            var request = PreparedRequest(.get, example)
            request.reportProgress = { _ in withExtendedLifetime(listener) {} }
            let subscription = transport.send(request).subscribe(onFailure: { _ in })
            if isDisposed { subscription.dispose() }
        }
        // The thread that delivered the event may have the rest in its hands.
        #expect(await eventually { held == nil })
        withExtendedLifetime(transport) {}
    }

    private func fileBody() throws -> (TemporaryFolder, HTTPBody) {
        let folder = TemporaryFolder()
        try Data("body".utf8).write(to: folder.url("file"))
        return (folder, .file(folder.url("file"), contentType: "a/b"))
    }

    @Test("As the documentation shows it")
    func documented() async throws {
        let transport = ExchangeTransport { exchange in
            let task = stack.send(
                exchange.request,
                onHead: { head in exchange.receive(head) },
                onBody: { chunk in exchange.receive(chunk) },
                onEnd: { error in exchange.complete(with: error) })
            return Disposables.create { task.cancel() }
        }
        send("/a", by: transport)
        stack.sendings.entries[0].answer(body: "a")
        #expect(await events.next() == "a")
    }

    @Test("An end without a response is an error, and a dump shows no setting")
    func noResponse() async throws {
        let transport = makeTransport { $0.additionalHeaders = ["Authorization": "s3cret"] }
        send("/a", by: transport)
        stack.sendings.entries[0].onEnd(nil)
        #expect(await events.next() == "-1011")
        var text = ""
        dump(transport, to: &text)
        #expect(!text.contains("s3cret"))
    }
}
