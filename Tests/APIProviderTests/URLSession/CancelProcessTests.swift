#if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

/// Foundation ends the process when a task is cancelled twice at once, or answers a redirect for which it no longer waits.
@Suite("A request that is disposed and the process", tenMinutes, .serialized)
struct CancelProcessTests {
    @Test("A request may be disposed while its redirect waits for the callback queue")
    func redirect() async {
        await #expect(processExitsWith: .success) {
            let redirected = Signals<Void>()
            let server = try LoopbackServer { request, connection in
                guard request.target == "/redirect" else { return connection.respond(body: "ok") }
                connection.respond("302 Found", headers: ["Location": "/next"])
                redirected.send(())
            }
            let transport = URLSessionTransport(configuration: .patient)
            let provider = DefaultAPIProvider(baseURL: server.url, transport: transport)
            // All sessions share one queue, which has handled everything before the answers to these requests.
            func goRound(_ provider: DefaultAPIProvider) async throws {
                for _ in 0..<5 { _ = try await provider.request(Endpoint<String>(.get, "/")).value }
            }
            let (isBusy, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
            // A closure that is passed to the transport runs in the session's callbacks, and holds them up.
            var slow = PreparedRequest(.get, server.url)
            slow.reportProgress = { _ in
                isBusy.send(())
                goOn.wait()
            }
            let busy = transport.send(slow).subscribe { _ in }
            await isBusy.next()
            let request = provider.request(Endpoint<Data>(.get, "/redirect")).subscribe { _ in }
            await redirected.next()
            try await goRound(DefaultAPIProvider(baseURL: server.url, configuration: .patient))
            request.dispose()
            try await goRound(DefaultAPIProvider(baseURL: server.url, configuration: .patient))
            for _ in 0..<10 { goOn.signal() }
            try await goRound(provider)
            withExtendedLifetime(busy) {}
        }
    }

    @Test("Streams that are left at once take no thread each, and their connections close")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let closed = Log<Void>()
            let server = try LoopbackServer { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                while connection.send(Data(count: 65_536)) {}
                closed.append(())
            }
            let provider = DefaultAPIProvider(baseURL: server.url, configuration: .patient)
            var streams: [ByteStream.AsyncIterator] = []
            for _ in 0..<10 {
                var stream = try await provider.request(Endpoint<ByteStream>(.get, "/")).value.makeAsyncIterator()
                _ = try await stream.next()
                streams.append(stream)
            }
            let before = try count("task")
            var most = before
            streams = []
            let areClosed = try await eventually {
                most = max(most, try count("task"))
                return closed.count == 10
            }
            #expect(areClosed)
            // Each stream may be told of its last bytes on a thread, and one thread waits.
            #expect(most - before < 18, "\(most) threads after \(before)")
        }
    }

    @Test(
        "Requests of all kinds may be disposed at any moment, and leave no descriptor, no thread and no place in the queue")
    func anyMoment() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(connected: answerAll)
            let requests = rounds(200)
            try await disposeAtAnyMoment(requests, to: server.url)
            await server.allClosed()
            let before = try (descriptors: count("fd"), threads: count("task"))
            try await disposeAtAnyMoment(requests, to: server.url)
            await server.allClosed()
            #expect(try await eventually { try count("fd") <= before.descriptors })
            #expect(try await eventually { try count("task") <= before.threads + 8 })
        }
    }
}

/// How many descriptors ("fd") or threads ("task") this process has.
private func count(_ kind: String) throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(kind)").count }

/// Keeps a connection or closes it, as the target says.
private func answerAll(on connection: Connection) {
    while let (head, start) = connection.readHead() {
        var rest = (Int(head.headers["content-length"] ?? "") ?? 0) - start.count
        while rest > 0, let bytes = connection.readSome() { rest -= bytes.count }
        switch head.target {
        case "/close": return connection.respond(body: "ok")
        case "/redirect": connection.send("HTTP/1.1 302 Found\r\nLocation: /kept\r\nContent-Length: 5\r\n\r\nmoved")
        case "/password":
            connection.send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 3\r\n\r\nwho")
        case "/large":
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
            for _ in 0..<6 { connection.send(Data(count: 50_000)) }
        case "/stream":
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for _ in 0..<40 { guard connection.send(Data(count: 50_000)) else { return } }
            return
        default: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
    }
}

private func disposeAtAnyMoment(_ requests: Int, to url: URL) async throws {
    let provider = DefaultAPIProvider(baseURL: url, configuration: .patient)
    let folder = TemporaryFolder()
    let file = folder.url("upload")
    try Data(count: 100_000).write(to: file)
    let parts = [MultipartPart(name: "a", file: file, contentType: "a/b")]
    let uploads: [HTTPBody] = [.data(Data(count: 100_000), contentType: "a/b"), .file(file, contentType: "a/b"), .multipart(parts)]
    let stream = provider.request(Endpoint<ByteStream>(.get, "/stream"))
    let kinds: [Single<Void>] =
        ["/kept", "/close", "/large", "/redirect", "/password"].map { provider.request(Endpoint<Data>(.get, $0)).map { _ in } }
        + uploads.map { provider.request(Endpoint<Data>(.put, "/kept", body: $0)).map { _ in } }
        + uploads.map { provider.request(Endpoint<Data>(.post, "/close", body: $0)).map { _ in } }
        + [
            provider.request(Endpoint<Data>(.post, "/kept")).map { _ in },
            provider.request(Endpoint(.get, "/large", downloadingTo: folder.url("download"))).map { _ in },
            stream.map { _ in },
            stream.flatMap { bytes in bytes.forEach { _ in } },
            // A reader that is behind, until it leaves.
            stream.flatMap { bytes in bytes.forEach { _ in for await _ in AsyncStream<Void>.makeStream().stream {} } },
        ]
    await withTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
            group.addTask {
                for number in 0..<requests / 8 {
                    let subscription = kinds[(number + worker) % kinds.count].subscribe { _ in }
                    spin(upTo: Bool.random() ? 200 : 3000)
                    subscription.dispose()
                    await Task.yield()
                }
            }
        }
    }
    #expect(try await eventually { try Set(folder.names).isSubset(of: ["upload", "download"]) })
    for _ in 0..<8 { #expect(try await provider.request(Endpoint<String>(.get, "/kept")).value == "ok") }
}
#endif
