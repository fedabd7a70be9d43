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

    private func events(_ url: URL, timeout: TimeInterval? = nil) -> Endpoint<ServerSentEvents> {
        Endpoint(.get, .url(url), timeoutInterval: timeout)
    }

    @Test func eventsComeWhileTheServerGoesOn() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + "data: a\n\nda")
            goOn.wait()
            connection.send("ta: b\n\n")
        }
        var events = try await provider.request(events(server.url)).value.makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        goOn.signal()
        #expect(try await events.next()?.data == "b")
        #expect(try await events.next() == nil)
        #expect(server.requests.first?.headers["accept"] == "text/event-stream")
        await server.allClosed()
    }

    @Test("Progress goes on while a stream is read")
    func progress() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head("text/plain") + "one")
            goOn.wait()
            connection.send("two")
        }
        let received = Log<Int64>()
        let endpoint = Endpoint<ByteStream>(.get, .url(server.url)).onProgress { received.append($0.bytesReceived) }
        let stream = try await provider.request(endpoint).value
        goOn.signal()
        #expect(try await stream.all().reduce(Data(), +) == Data("onetwo".utf8))
        #expect(await eventually { received.entries.last == 6 })
    }

    @Test func jsonLinesLinesAndBytes() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head("text/plain") + "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n")
        }
        let items = try await provider.request(Endpoint<JSONLines<Item>>(.get, .url(server.url))).value.all()
        let lines = try await provider.request(Endpoint<TextLines>(.get, .url(server.url))).value.all()
        let bytes = try await provider.request(Endpoint<ByteStream>(.get, .url(server.url))).value.all()

        #expect(items == [Item(id: 1, name: "a"), Item(id: 2, name: "b")])
        #expect(lines == ["{\"id\":1,\"name\":\"a\"}", "{\"id\":2,\"name\":\"b\"}"])
        #expect(bytes.reduce(Data(), +).count == 42 - 2)
        #expect(server.requests.map { $0.headers["accept"] }.prefix(1) == ["application/x-ndjson"])
    }

    enum Leaving: CaseIterable { case breaking, cancelling, dropping, disposing, losingTheProvider }

    @Test("A stream that is left closes its connection", arguments: Leaving.allCases)
    func left(_ way: Leaving) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + "data: a\n\n")
            connection.waitUntilClosed()
        }
        switch way {
        case .breaking:
            let events = try await provider.request(events(server.url)).value
            for try await event in events {
                #expect(event.data == "a")
                break
            }
            await server.allClosed()
            withExtendedLifetime(events) {}
        case .cancelling:
            let (read, reads) = AsyncStream.makeStream(of: Void.self)
            let task = Task { [events = events(server.url), provider] in
                for try await _ in try await provider.request(events).value { reads.yield() }
            }
            for await _ in read { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        case .dropping:
            _ = try await provider.request(events(server.url)).value
        case .disposing:
            let (read, reads) = AsyncStream.makeStream(of: String.self)
            let subscription = provider.request(events(server.url))
                .flatMap { events in events.forEach { event in reads.yield(event.data) } }
                .subscribe()
            for await data in read {
                #expect(data == "a")
                break
            }
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

    @Test func aRefusedStatusHasItsBodyInTheError() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("403 Forbidden", body: "{\"message\":\"no\"}") }
        let error = await #expect(throws: APIError.self) { try await provider.request(events(server.url)).value }

        #expect(error?.statusCode == 403)
        #expect(error?.response?.data == Data("{\"message\":\"no\"}".utf8))
    }

    @Test func a503IsRetriedAnd401RefreshesOnceAndTheStreamGoesOn() async throws {
        let answers = Log<Int>()
        let server = try LoopbackServer { request, connection in
            answers.append(0)
            switch answers.count {
            case 1: connection.respond("503 Service Unavailable")
            case 2: connection.respond("401 Unauthorized")
            default: connection.send(Self.head() + "data: \(request.headers["authorization"] ?? "none")\n\n")
            }
        }
        let provider = DefaultAPIProvider(
            baseURL: server.url, transport: TestedTransport(configuration: .patient),
            middlewares: [
                RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1))),
                AuthenticationMiddleware(token: "old") { _ in .just("new") },
            ])
        let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/")).value.all()

        #expect(events.map(\.data) == ["Bearer new"])
        #expect(answers.count == 3)
    }

    @Test func aRedirectLeadsToTheStream() async throws {
        let server = try LoopbackServer { request, connection in
            if request.target == "/a" { return connection.respond("302 Found", headers: ["Location": "/b"]) }
            connection.send(Self.head() + "data: \(request.target)\n\n")
        }
        let events = try await provider.request(Endpoint<ServerSentEvents>(.get, .url(server.url, "/a"))).value.all()

        #expect(events.map(\.data) == ["/b"])
    }

    @Test func aBrokenConnectionThrowsBehindWhatHasComeAndIsNotRetried() async throws {
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

    @Test func silenceEndsAStreamBehindItsEvents() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send(Self.head() + "data: a\n\n")
            connection.waitUntilClosed()
        }
        var events = try await provider.request(events(server.url, timeout: 0.5)).value.makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.urlError?.code == .timedOut)
        await server.allClosed()
    }

    @Test("A reader that is behind holds the server back", .longComputing)
    func backpressure() async throws {
        let total = 100_000_000
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

        // Others are not held back, and the rest comes when it is read.
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
        // A client keeps a connection that it made for a request that has left meanwhile. It closes it when it goes itself.
        var provider: DefaultAPIProvider? = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))
        for round in 0..<rounds(30) {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<10 {
                    group.addTask { [provider, endpoint = events(server.url)] in
                        guard let provider else { return }
                        let read = Locked(0)
                        let subscription = provider.request(endpoint)
                            .flatMap { events in events.forEach { _ in read.withLock { $0 += 1 } } }
                            .subscribe()
                        for _ in 0..<(round * 7 + index * 13) % 50 { await Task.yield() }
                        subscription.dispose()
                    }
                }
            }
        }
        provider = nil
        await server.allClosed()
    }
}
