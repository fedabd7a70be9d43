#if canImport(FoundationNetworking)
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

/// How the transport keeps time where a session's timers do not: here in virtual time.
@Suite("Timeouts and waiting for a connection, on Linux", tenMinutes)
struct TimeoutTests {
    private let scheduler = TestScheduler()
    private let configuration = URLSessionConfiguration.patient
    private let events = Signals<String>()

    private func makeProvider() -> DefaultAPIProvider {
        DefaultAPIProvider(transport: URLSessionTransport(configuration: configuration, delegateSession: nil, scheduler: scheduler))
    }

    /// Subscribes, and tells in `events` what comes.
    @discardableResult
    private func send(_ path: String, to url: URL, by provider: DefaultAPIProvider, timeout: TimeInterval? = nil) -> any Disposable {
        let request = Endpoint<String>(.get, .url(url, RequestPath(path)), timeoutInterval: timeout)
        return provider.request(request).subscribe { [events] event in
            switch event {
            case .success(let value): events.send("\(path): \(value)")
            case .failure(let error): events.send("\(path): \((error as? APIError)?.urlError?.code.rawValue ?? 0)")
            }
        }
    }

    @Test("A silent server times out after the timeout, to the millisecond", arguments: [0.5, 1, 2.5], [true, false])
    func silence(seconds: TimeInterval, isOfRequest: Bool) async throws {
        let server = try PatientServer()
        if !isOfRequest { configuration.timeoutIntervalForRequest = seconds }
        send("/a", to: server.url, by: makeProvider(), timeout: isOfRequest ? seconds : nil)
        await server.requests.next()
        scheduler.advance(by: .milliseconds(Int(seconds * 1000) - 1))
        events.send("a millisecond before")
        scheduler.advance(by: .milliseconds(1))
        #expect(await events.next(2) == ["a millisecond before", "/a: -1001"])
        await server.allClosed()
    }

    @Test("A timeout of 60 s counts, whatever the configuration says")
    func sixtySeconds() async throws {
        let server = try PatientServer()
        configuration.timeoutIntervalForRequest = 10
        send("/a", to: server.url, by: makeProvider(), timeout: 60)
        await server.requests.next()
        scheduler.advance(by: .seconds(59))
        server.answer("/a")
        #expect(await events.next() == "/a: /a")
        await server.allClosed()
    }

    @Test("Each byte begins the time anew, and the silence after the last one ends the request")
    func bytes() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { request, connection in
            guard request.target == "/" else { return connection.respond() }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in 0..<5 {
                connection.send("x")
                goOn.wait()
            }
            connection.waitUntilClosed()
        }
        let chunks = Signals<Int64>()
        let request = Endpoint<String>(.get, .url(server.url), timeoutInterval: 0.5).onProgress { chunks.send($0.bytesReceived) }
        let provider = makeProvider()
        let disposable = provider.request(request).subscribe { [events] in events.send("\($0)") }
        for count in 1...5 {
            #expect(await chunks.next() == Int64(count))
            // The timer fires now, and looks at the time where responses come: behind that, time may go on.
            scheduler.advance(by: .milliseconds(1))
            send("/other", to: server.url, by: provider, timeout: 100)
            #expect(await events.next() == "/other: ")
            scheduler.advance(by: .milliseconds(498))
            goOn.signal()
        }
        events.send("a millisecond before")
        scheduler.advance(by: .milliseconds(1))
        let last = await events.next(2)
        #expect(last[0] == "a millisecond before")
        #expect(last[1].contains("it timed out"))
        disposable.dispose()
    }

    @Test("A request has one timer, which neither its bytes nor those of others move")
    func timers() async throws {
        let hasStarted = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { request, connection in
            // A response that comes before the request has a timer would need none.
            hasStarted.wait()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            for _ in 0..<100 { connection.send("x") }
        }
        let clock = WatchedClock()
        let provider = DefaultAPIProvider(
            transport: URLSessionTransport(configuration: configuration, delegateSession: nil, scheduler: clock))
        for (path, timeout) in [("/b", 100.0), ("/a", 1)] {
            send(path, to: server.url, by: provider, timeout: timeout)
            hasStarted.signal()
            #expect(await events.next()?.hasPrefix("\(path): x") == true)
        }
        #expect(clock.delays.entries == [.seconds(100), .seconds(1)])
        // What has ended has no timer.
        #expect(clock.disposed.entries == [.seconds(100), .seconds(1)])
    }

    @Test("The head of a response begins the time anew")
    func head() async throws {
        configuration.protocolClasses = [PatientProtocol.self]
        let provider = makeProvider()
        send("/head", to: example, by: provider, timeout: 1)
        let sending = try #require(await PatientProtocol.started.next())
        scheduler.advance(by: .milliseconds(999))
        sending.sendHead()
        // What comes behind the head is there, and so is the head.
        send("/other", to: example, by: provider, timeout: 100)
        try #require(await PatientProtocol.started.next()).sendHeadAndEnd()
        #expect(await events.next() == "/other: ")
        scheduler.advance(by: .milliseconds(999))
        sending.end()
        #expect(await events.next() == "/head: ")
    }

    @Test("The time of a request begins when a connection is free for it")
    func waiting() async throws {
        let server = try PatientServer()
        configuration.httpMaximumConnectionsPerHost = 2
        let provider = makeProvider()
        for path in ["/a", "/b", "/c"] { send(path, to: server.url, by: provider, timeout: 3) }
        #expect(await Set(server.requests.next(2)) == ["/a", "/b"])
        scheduler.advance(by: .seconds(2))
        server.answer("/a")
        #expect(await events.next() == "/a: /a")
        #expect(await server.requests.next() == "/c")
        scheduler.advance(by: .milliseconds(999))
        server.answer("/b")
        #expect(await events.next() == "/b: /b")
        scheduler.advance(by: .seconds(2))
        server.answer("/c")
        #expect(await events.next() == "/c: /c")
    }

    @Test("A connection is free again after a timeout, and after a dispose")
    func freed() async throws {
        let server = try PatientServer()
        configuration.httpMaximumConnectionsPerHost = 1
        let provider = makeProvider()
        send("/a", to: server.url, by: provider, timeout: 1)
        let second = send("/b", to: server.url, by: provider)
        send("/c", to: server.url, by: provider)
        #expect(await server.requests.next() == "/a")
        scheduler.advance(by: .seconds(1))
        #expect(await events.next() == "/a: -1001")
        #expect(await server.requests.next() == "/b")
        second.dispose()
        #expect(await server.requests.next() == "/c")
        server.answer("/c")
        #expect(await events.next() == "/c: /c")
    }

    @Test("timeoutIntervalForResource counts from the subscription, also for a request that waits")
    func resource() async throws {
        let server = try PatientServer()
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.timeoutIntervalForResource = 2.5
        let provider = makeProvider()
        for path in ["/a", "/b"] { send(path, to: server.url, by: provider) }
        #expect(await server.requests.next() == "/a")
        scheduler.advance(by: .milliseconds(2499))
        events.send("a millisecond before")
        scheduler.advance(by: .milliseconds(1))
        #expect(await Set(events.next(3).dropFirst()) == ["/a: -1001", "/b: -1001"])
        send("/c", to: server.url, by: provider)
        #expect(await server.requests.next() == "/c")
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

    @Test("A request that is disposed as its connection becomes free is not sent, though nobody holds the provider any more")
    func disposedAsItStarts() async throws {
        let server = try PatientServer()
        configuration.httpMaximumConnectionsPerHost = 1
        let clock = WatchedClock()
        var provider: DefaultAPIProvider? = DefaultAPIProvider(
            transport: URLSessionTransport(configuration: configuration, delegateSession: nil, scheduler: clock))
        let disposables = try ["/a", "/b"].map { send($0, to: server.url, by: try #require(provider)) }
        #expect(await server.requests.next() == "/a")
        provider = nil
        let isDisposed = DispatchSemaphore(value: 0)
        clock.whenRead { [events] in
            isDisposed.wait()
            disposables[1].dispose()
            // All sessions share one queue: a session that nobody holds any more is invalid when another one answers.
            let answered = DispatchSemaphore(value: 0)
            URLSession.shared.getAllTasks { _ in answered.signal() }
            answered.wait()
            events.send("disposed")
        }
        disposables[0].dispose()
        isDisposed.signal()
        #expect(await events.next() == "disposed")
        await server.allClosed()
    }

    @Test("What is disposed at any moment keeps no connection and no place in the queue")
    func races() async throws {
        let server = try LoopbackServer { request, connection in connection.respond(body: request.target) }
        configuration.httpMaximumConnectionsPerHost = 2
        let provider = DefaultAPIProvider(configuration: configuration)
        let request = Endpoint<String>(.get, .url(server.url, "/x"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<rounds(1_000) {
                        let disposable = provider.request(request).subscribe(onFailure: { Issue.record("\($0)") })
                        for _ in 0..<Int.random(in: 0...300) { sched_yield() }
                        disposable.dispose()
                        // Other tests run meanwhile.
                        await Task.yield()
                    }
                }
            }
        }
        for _ in 0..<4 { #expect(try await provider.request(request).value == "/x") }
    }
}

/// A clock that calls back, once, when it is read, and notes for how long it is set.
private final class WatchedClock: Scheduler {
    let time = TestScheduler()
    private let action = Locked<(@Sendable () -> Void)?>(nil)
    let (delays, disposed) = (Log<DispatchTimeInterval>(), Log<DispatchTimeInterval>())

    func whenRead(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    var now: DispatchTime {
        action.withLock { $0.take() }?()
        return time.now
    }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        delays.append(delay)
        let alarm = time.schedule(after: delay, action)
        return Disposables.create { [disposed] in
            disposed.append(delay)
            alarm.dispose()
        }
    }
}

/// Tells of each request by its path, and answers it with the path when the test says so.
private final class PatientServer: Sendable {
    let requests = Signals<String>()
    private let server: LoopbackServer
    private let answers = Locked<[String: DispatchSemaphore]>([:])

    init() throws {
        server = try LoopbackServer { [requests, answers] request, connection in
            let answer = Self.answer(to: request.target, in: answers)
            requests.send(request.target)
            // A client that goes away is seen at the next writing.
            answer.wait()
            connection.respond(body: request.target)
        }
    }

    deinit { answers.withLock { $0.values.forEach { $0.signal() } } }

    var url: URL { server.url }

    func answer(_ path: String) { Self.answer(to: path, in: answers).signal() }

    func allClosed() async {
        answers.withLock { $0.values.forEach { $0.signal() } }
        await server.allClosed()
    }

    private static func answer(to path: String, in answers: Locked<[String: DispatchSemaphore]>) -> DispatchSemaphore {
        answers.withLock { answers in
            let answer = answers[path] ?? DispatchSemaphore(value: 0)
            answers[path] = answer
            return answer
        }
    }
}

/// Answers when the test says so.
private final class PatientProtocol: URLProtocol {
    struct Sending: @unchecked Sendable {  // The client of a protocol may be called from any thread.
        let source: URLProtocol

        func sendHead() {
            guard let url = source.request.url,
                let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
            else { return }
            source.client?.urlProtocol(source, didReceive: head, cacheStoragePolicy: .notAllowed)
        }

        func end() { source.client?.urlProtocolDidFinishLoading(source) }

        func sendHeadAndEnd() {
            sendHead()
            end()
        }
    }

    static let started = Signals<Sending>()

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}
    override func startLoading() { Self.started.send(Sending(source: self)) }
}

/// Never answers.
private final class SilentProtocol: URLProtocol {
    static let started = Signals<String>()

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}
    override func startLoading() { Self.started.send(request.url?.path ?? "") }
}
#endif
