import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// Against a server on loopback, byte by byte.
@Suite("Streams", tenMinutes)
struct StreamTests {
    private let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private static func head(_ type: String = "text/event-stream") -> String { "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n" }

    private func events(_ url: URL) -> Endpoint<ServerSentEvents> { Endpoint(.get, .url(url)) }

    @Test("Events and progress come while the server goes on")
    func whileTheServerGoesOn() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + "data: a\n\nda")
            goOn.wait()
            connection.send("ta: b\n\n")
        }
        let received = Log<Int64>()
        var events = try await provider.request(events(server.url).onProgress { received.append($0.bytesReceived) }).value
            .makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        goOn.signal()
        #expect(try await events.next()?.data == "b")
        #expect(try await events.next() == nil)
        #expect(await eventually { received.entries.last == 18 })
        #expect(server.requests.first?.headers["accept"] == "text/event-stream")
        await server.allClosed()
    }

    enum Leaving: CaseIterable { case breaking, cancelling, dropping, disposing, losingTheProvider }

    @Test("A stream that is left closes its connection", arguments: Leaving.allCases)
    func left(_ way: Leaving) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + "data: a\n\n")
            connection.waitUntilClosed()
        }
        let read = Signals<String>()
        switch way {
        case .breaking:
            let events = try await provider.request(events(server.url)).value
            for try await _ in events { break }
            await server.allClosed()
            withExtendedLifetime(events) {}
        case .cancelling:
            let task = Task { [events = events(server.url), provider] in
                for try await event in try await provider.request(events).value { read.send(event.data) }
            }
            await read.next()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        case .dropping:
            _ = try await provider.request(events(server.url)).value
        case .disposing:
            let subscription = provider.request(events(server.url))
                .flatMap { events in events.forEach { event in read.send(event.data) } }
                .subscribe { _ in }
            #expect(await read.next() == "a")
            subscription.dispose()
        case .losingTheProvider:
            var provider: DefaultAPIProvider? = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))
            var events = try await provider?.request(events(server.url)).value.makeAsyncIterator()
            provider = nil
            #expect(try await events?.next()?.data == "a")
            events = nil
        }
        await server.allClosed()
    }

    @Test("The error for a refused status has the body")
    func refused() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("403 Forbidden", body: "{\"message\":\"no\"}") }
        let error = await #expect(throws: APIError.self) { try await provider.request(events(server.url)).value }

        #expect(error?.statusCode == 403)
        #expect(error?.response?.data == Data("{\"message\":\"no\"}".utf8))
    }

    @Test("A 503 is retried, a 401 refreshes once, a redirect is followed, and then the stream is read")
    func untilTheStream() async throws {
        let answers = Log<Void>()
        let server = try LoopbackServer { request, connection in
            answers.append(())
            switch answers.count {
            case 1: connection.respond("503 Service Unavailable")
            case 2: connection.respond("401 Unauthorized")
            case 3: connection.respond("302 Found", headers: ["Location": "/b"])
            default: connection.send(Self.head() + "data: \(request.target) \(request.headers["authorization"] ?? "none")\n\n")
            }
        }
        let provider = DefaultAPIProvider(
            baseURL: server.url, transport: TestedTransport(configuration: .patient),
            middlewares: [
                RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1))),
                AuthenticationMiddleware(token: "old") { _ in .just("new") },
            ])
        let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/")).value.all()
        #expect(events.map(\.data) == ["/b Bearer new"])
        #expect(answers.count == 4)
    }

    @Test("A broken connection throws after the events that have come, and is not retried")
    func broken() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n")
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [RetryMiddleware()])
        var events = try await provider.request(events(server.url)).value.makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.urlError?.code == .networkConnectionLost, "\(String(describing: error))")
        #expect(server.requests.count == 1)
    }

    @Test("A slow reader holds the server back", .longComputing)
    func backpressure() async throws {
        let total = 50_000_000
        let heldBack = Signals<Int?>()
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\nConnection: close\r\n\r\n")
            let chunk = Data(count: 50_000)
            let sent = connection.sendUntilHeldBack(chunk, total: total) ?? total
            heldBack.send(sent)
            for _ in 0..<(total - sent) / chunk.count { connection.send(chunk) }
        }
        var bytes = try await provider.request(Endpoint<ByteStream>(.get, .url(server.url))).value.makeAsyncIterator()
        let sent = try #require(await heldBack.next() ?? nil)
        #expect(sent < 30_000_000)

        // Other requests are not held back, and the rest comes when it is read.
        let other = try LoopbackServer { _, connection in connection.respond(body: "ok") }
        #expect(try await provider.request(Endpoint<String>(.get, .url(other.url))).value == "ok")
        var count = 0
        while let chunk = try await bytes.next() { count += chunk.count }
        #expect(count == total)
    }

    @Test func streamsTakeNoPlaceInTheQueueOfAHost() async throws {
        let server = try LoopbackServer { request, connection in
            if request.target == "/small" { return connection.respond(body: "ok") }
            connection.send(Self.head() + "data: a\n\n")
            connection.waitUntilClosed()
        }
        var streams: [ServerSentEvents.AsyncIterator] = []
        for _ in 0..<20 {
            var events = try await provider.request(events(server.url)).value.makeAsyncIterator()
            #expect(try await events.next()?.data == "a")
            streams.append(events)
        }
        let texts = try await Single.zip((0..<20).map { _ in provider.request(Endpoint<String>(.get, .url(server.url, "/small"))) }).value
        #expect(texts == Array(repeating: "ok", count: 20))
        streams = []
        await server.allClosed()
    }

    @Test("Streams that are left at any moment leave no connection", .longComputing)
    func leftAtRandom() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + String(repeating: "data: a\n\n", count: 1000))
            connection.waitUntilClosed()
        }
        // A client keeps a connection that was made for a request that has left, until the client goes.
        do {
            let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))
            for round in 0..<rounds(3) {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<10 {
                        group.addTask { [endpoint = events(server.url)] in
                            let subscription = provider.request(endpoint).flatMap { events in events.forEach { _ in } }.subscribe { _ in }
                            for _ in 0..<(round * 7 + index * 13) % 50 { await Task.yield() }
                            subscription.dispose()
                        }
                    }
                }
            }
        }
        await server.allClosed()
    }
}
