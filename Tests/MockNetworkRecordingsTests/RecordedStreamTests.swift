import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks
@testable import MockNetworkRecordings

@Suite("Recordings of streams", tenMinutes)
struct RecordedStreamTests {
    private let test = RecordedTest()

    private static let streams = [
        ("text/event-stream", "data: 1\n\ndata: 2\n\n", ""), ("text/event-stream", "data: 1\n\ndata: 2\n\n", "data: 3\nda"),
        ("text/event-stream", "data: 1\r\n\r\n", "data: 2\r\n"), ("text/event-stream", "data: 1\r\rdata: 2\r\r", "data: 3\r"),
        ("application/x-ndjson", "{\"n\":1}\r\n", "{\"n\":2}\r"),
        ("application/x-ndjson", "{\"n\":1}\n{\"n\":2}\n", ""), ("application/x-ndjson", "{\"n\":1}\n{\"n\":2}\n", "{\"n\":"),
    ]

    /// What is read of a stream, until it has so many bytes or fails.
    private func read(
        _ provider: DefaultAPIProvider, _ url: URL, upTo count: Int = .max
    ) async -> (text: String, error: (any Error)?) {
        var data = Data()
        do {
            for try await chunk in try await provider.request(Endpoint<ByteStream>(.get, .url(url, "/stream"))).value {
                data += chunk
                if data.count >= count { break }
            }
        } catch { return (String(decoding: data, as: UTF8.self), error) }
        return (String(decoding: data, as: UTF8.self), nil)
    }

    @Test("A stream that broke off breaks off in each replay, after the same bytes", arguments: streams)
    func brokenStream(type: String, whole: String, rest: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: 99\r\n\r\n\(whole)\(rest)")
            connection.reset()
        }
        for mode in [Recording.Mode.record, .replay, .replay] {
            let (text, error) = try await test.run(mode) { await read($0, server.url) }
            #expect(text == whole + rest && error is APIError, "\(mode): \(text), \(error as Any)")
        }
    }

    @Test("A stream that the app has left ends in the file with its last whole line or event", arguments: streams)
    func leftWithinLine(type: String, whole: String, rest: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n\(whole)\(rest)")
            connection.waitUntilClosed()
        }
        try await test.run(.record) { _ = await read($0, server.url, upTo: (whole + rest).utf8.count) }
        #expect(try OpenedFile(test.file).value("response.content.text") as? String == whole)
        #expect((try OpenedFile(test.file).value("response.content._times") as? [Double])?.count == whole.utf8.count { $0 == 0x0A })
        let (text, error) = try await test.run(.replay) { await read($0, server.url) }
        #expect(text == whole && error == nil, "\(text), \(error as Any)")
    }

    @Test(
        "A time is recorded for each line of a stream, and for no other body",
        arguments: [
            ("text/event-stream", 4), ("application/x-ndjson", 4), ("text/plain", nil), ("application/json", nil),
        ] as [(String, Int?)])
    func recordedTimes(type: String, count: Int?) async throws {
        let server = answering(headers: ["Content-Type": type]) { _ in Data("data: 1\n\ndata: 2\n\n".utf8) }
        try await test.run(.record, from: server) { _ = try await $0.text(.get, "/a") }
        let times = try OpenedFile(test.file).value("response.content._times") as? [Double]
        #expect(times?.count == count && times?.allSatisfy { $0 >= 0 } != false)
    }

    @Test("A stream ends while it is recorded, and in a replay")
    func wholeStream() async throws {
        let server = answering(headers: ["Content-Type": "text/event-stream"]) { _ in Data("data: 1\n\ndata: 2\n\n".utf8) }
        let events = Endpoint<ServerSentEvents>(.get, "/events")
        for mode in [Recording.Mode.record, .replay] {
            let data = try await test.run(mode, from: server) { provider in
                try await provider.request(events).value.reduce(into: []) { $0.append($1.data) }
            }
            #expect(data == ["1", "2"])
        }
    }

    @Test("If the app leaves a stream that is being recorded, the transfer from the server ends")
    func leftStream() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            connection.waitUntilClosed()
        }
        let events = Endpoint<ServerSentEvents>(.get, .url(server.url, "/events"))
        try await test.run(.record) { provider in
            for try await event in try await provider.request(events).value where event.data == "1" { break }
            await server.allClosed()
        }
        #expect(try await test.run(.replay) { try await $0.request(events).value.first { _ in true }?.data } == "1")
    }

    @Test(
        "In the attachment of a failed test, a response that broke off is an error, and a stream has what came",
        arguments: [true, false])
    func brokenAttachment(isStream: Bool) async throws {
        let type = isStream ? "text/event-stream" : "text/plain"
        let attachment = try await MockURLProtocol.withScope {
            let answer = StubResponse.stream([.chunk("data: 1\n\n")], headers: ["Content-Type": type])
            MockURLProtocol.stub(.get, "/a", respond: answer.breakingOff(with: URLError(.networkConnectionLost)))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            await #expect(throws: APIError.self) { try await provider.request(Endpoint<Data>(.get, "/a")).value }
            return try #require(MockURLProtocol.attachment)
        }
        let file = test.folder.url("attachment.har")
        try attachment.write(to: file)
        let opened = try OpenedFile(file)
        #expect(opened.value("response.status") as? Int == (isStream ? 200 : 0))
        #expect(opened.value("response.content.text") as? String ?? "" == (isStream ? "data: 1\n\n" : ""))
    }

    @Test("The lines of a recorded stream come at their times, and what has no time comes with the last")
    func timesOfLines() throws {
        let file = try RecordedFile(
            Data(
                #"""
                {"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/"},"response":{"status":200,
                "content":{"text":"1\n2\n3\n4\n","_times":[0,50,50]}}}]}}
                """#.utf8), name: "a.har")
        let source = ReplaySource(file, ignoring: SecretNames(), forAnyHost: false)
        guard case .answer(let answer) = source.choose(PreparedRequest(.get, try #require(URL(string: "https://a.example/")))) else {
            return #expect(Bool(false), "no answer")
        }
        let steps = answer.steps.map { step in
            switch step {
            case .data(let data): String(decoding: data, as: UTF8.self)
            case .wait(let interval): "\(interval)"
            case .failure(let error): "\(error)"
            }
        }
        #expect(steps.count == 4 && steps[0] == "1\n" && steps[2] == "2\n" && steps[3] == "3\n4\n", "\(steps)")
    }
}
