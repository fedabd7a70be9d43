import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Recordings of streams", tenMinutes)
struct StreamTests {
    private let test = RecordedTest()

    private static let streams = [
        ("text/event-stream", "data: 1\n\ndata: 2\n\n"), ("text/event-stream", "data: 1\n\ndata: 2\n\ndata: 3\nda"),
        ("application/x-ndjson", "{\"n\":1}\n{\"n\":2}\n"), ("application/x-ndjson", "{\"n\":1}\n{\"n\":"),
    ]

    /// What is read of a stream, until it has so many bytes or fails.
    ///
    /// - Parameter didRead: Called with the number of bytes so far.
    private func read(
        _ provider: DefaultAPIProvider, _ url: URL, upTo count: Int = .max, didRead: @Sendable (Int) -> Void = { _ in }
    ) async -> (text: String, error: (any Error)?) {
        var data = Data()
        do {
            for try await chunk in try await provider.request(Endpoint<ByteStream>(.get, .url(url, "/stream"))).value {
                data += chunk
                didRead(data.count)
                if data.count >= count { break }
            }
        } catch { return (String(decoding: data, as: UTF8.self), error) }
        return (String(decoding: data, as: UTF8.self), nil)
    }

    @Test("A stream that broke off breaks off in each replay, after the same bytes", arguments: streams)
    func broken(type: String, text: String) async throws {
        let hasRead = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: 99\r\n\r\n\(text)")
            // A reset may overtake the bytes before it.
            hasRead.wait()
            connection.reset()
        }
        for mode in [Recording.Mode.record, .replay, .replay] {
            let (found, error) = try await test.run(mode) { provider in
                await read(provider, server.url) { if $0 == text.utf8.count { hasRead.signal() } }
            }
            #expect(found == text && error is APIError, "\(mode): \(found), \(error as Any)")
        }
    }

    @Test("A stream that the app has left plays what came, and then stays open: it never ends in success", arguments: streams)
    func left(type: String, text: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n\(text)")
            connection.waitUntilClosed()
        }
        try await test.run(.record) {
            _ = await read($0, server.url, upTo: text.utf8.count)
            await server.allClosed()
        }
        #expect(try OpenedFile(test.file).value("response.content.text") as? String == text)
        let (found, error) = try await test.run(.replay) { provider in
            let task = Task { await read(provider, server.url) }
            // What comes later would come within this request.
            _ = await read(provider, server.url, upTo: text.utf8.count)
            task.cancel()
            return await task.value
        }
        #expect((found == text || found.isEmpty) && error != nil, "\(found), \(error as Any)")
    }

    @Test(
        "An answer whose task was cancelled in its middle is no answer in a replay",
        arguments: ["application/json", "application/x-ndjson"])
    func cancelled(type: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n{\"words\":\"the first\"}\n")
            connection.waitUntilClosed()
        }
        let progress = Log<TransferProgress>()
        let request = Endpoint<String>(.get, .url(server.url, "/answer")).onProgress(progress.append)
        for mode in [Recording.Mode.record, .replay] {
            let isCancelled = try await test.run(mode) { provider in
                let task = Task { try await provider.request(request).value }
                if mode == .record { await eventually { progress.entries.contains { $0.bytesReceived > 0 } } }
                await eventually { !MockURLProtocol.requests.isEmpty }
                task.cancel()
                do { return try await task.value.isEmpty } catch { return true }
            }
            #expect(isCancelled, "\(mode)")
        }
    }

    @Test(
        "While it is recorded, a request that the app cancels before an answer is cancelled at the server, and so is one that runs at the end"
    )
    func cancelledBeforeAnswer() async throws {
        let (sent, stopped) = (Log<String>(), Log<String>())
        let server = ClosureTransport { request in
            if request.url.path == "/a" { return .just(APIResponse(to: request)) }
            return .create { _ in
                sent.append(request.url.path)
                return Disposables.create { stopped.append(request.url.path) }
            }
        }
        let left = try await test.run(.record, from: server) { provider in
            _ = try await provider.text(.get, "/a")
            let tasks = ["/cancelled", "/left"].map { path in Task { try? await provider.text(.get, path) } }
            #expect(await eventually { sent.count == 2 })
            tasks[0].cancel()
            #expect(await eventually { stopped.entries == ["/cancelled"] })
            return tasks[1]
        }
        #expect(await eventually { stopped.entries == ["/cancelled", "/left"] }, "\(stopped.entries)")
        left.cancel()
    }

    @Test("A stream ends while it is recorded, and in a replay, which waits for nothing")
    func whole() async throws {
        let server = answering(headers: ["Content-Type": "text/event-stream"]) { _ in Data("data: 1\n\ndata: 2\n\n".utf8) }
        let events = Endpoint<ServerSentEvents>(.get, "/events")
        for mode in [Recording.Mode.record, .replay] {
            let data = try await test.run(mode, from: server) { provider in
                try await provider.request(events).value.reduce(into: []) { $0.append($1.data) }
            }
            #expect(data == ["1", "2"])
        }
    }
}
