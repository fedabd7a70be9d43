import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

// The code of the article and the doc comments on streams.

private struct Chat: APIRequest {
    let prompt: String
    var endpoint: Endpoint<ServerSentEvents> { Endpoint(.post, "/v1/chat", body: .json(["prompt": prompt])) }
}

private struct Row: Codable, Equatable {
    let id: Int
}

private struct Item: Codable {}

@MainActor
private final class Model {
    var text = ""
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) { self.provider = provider }

    func send(_ prompt: String) {
        latest.disposable = provider.request(Chat(prompt: prompt))
            .flatMap { events in events.forEach { @MainActor event in self.text += event.data } }
            .subscribe(onFailure: { _ in })
    }
}

/// Numbers that come as four bytes each.
private struct Numbers: StreamedResponse {
    private let bytes: ByteStream

    init(_ bytes: ByteStream, decoder: any BodyDecoder) { self.bytes = bytes }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: ByteStream.AsyncIterator
        var rest = Data()

        mutating func next() async throws -> UInt32? {
            while rest.count < 4 {
                guard let chunk = try await bytes.next() else { return nil }
                rest += chunk
            }
            defer { rest = Data(rest.dropFirst(4)) }
            return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

@Suite(tenMinutes, .mockNetwork)
struct StreamComments {
    private let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())

    @Test @MainActor func events() async throws {
        MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(["Hel", "lo"].map { ServerSentEvent(data: $0) }, every: 0.001))
        let events = try await provider.request(Chat(prompt: "Hi")).value
        for try await event in events { print(event.data) }

        let (bag, model) = (DisposeBag(), Model(provider: provider))
        let show: @Sendable (any Error) -> Void = { _ in }
        provider.request(Chat(prompt: "Hi"))
            .flatMap { events in events.forEach { @MainActor event in model.text += event.data } }
            .subscribe(onFailure: { show($0) })
            .disposed(by: bag)
        await eventually { model.text == "Hello" }
        #expect(model.text == "Hello")
    }

    @Test @MainActor func feed() async throws {
        let model = Model(provider: provider)

        let feed = StreamFeed()
        MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(from: feed))
        model.send("Hi")

        feed.send(ServerSentEvent(data: "Hel"))
        await feed.waitUntilRead()
        #expect(model.text == "Hel")
        feed.fail(URLError(.networkConnectionLost))
    }

    /// The rows of the tables on moving.
    private func rows(_ subscription: any Disposable) {
        _ = Endpoint<ByteStream>(.get, "/file")
        _ = Endpoint<TextLines>(.get, "/log")
        _ = Endpoint<JSONLines<Item>>(.get, "/items")
        _ = provider.events(Endpoint(.get, "/changes"))
        subscription.dispose()
    }

    @Test func others() async throws {
        var rows: [Row] = []
        MockURLProtocol.stub(.get, "/rows", respond: .jsonLines([Row(id: 1), Row(id: 2)]))
        for try await row in try await provider.request(Endpoint<JSONLines<Row>>(.get, "/rows")).value { rows.append(row) }
        #expect(rows == [Row(id: 1), Row(id: 2)])

        MockURLProtocol.stub(.get, "/log", respond: .stream([.chunk("a\nb")]))
        for try await line in try await provider.request(Endpoint<TextLines>(.get, "/log")).value { print(line) }

        MockURLProtocol.stub(.get, "/dump", respond: .stream([.chunk("a"), .wait(0.001), .chunk("b")]))
        let folder = TemporaryFolder()
        try Data().write(to: folder.url("dump"))
        let file = try FileHandle(forWritingTo: folder.url("dump"))
        let bytes = try await provider.request(Endpoint<ByteStream>(.get, "/dump")).value
        for try await chunk in bytes { try file.write(contentsOf: chunk) }
        #expect(try Data(contentsOf: folder.url("dump")) == Data("ab".utf8))

        MockURLProtocol.stub(.get, "/numbers", respond: .stream([.data(Data([0, 0, 1])), .data(Data([2, 0, 0, 0, 3]))]))
        var numbers: [UInt32] = []
        for try await number in try await provider.request(Endpoint<Numbers>(.get, "/numbers")).value { numbers.append(number) }
        #expect(numbers == [258, 3])
    }

    @Test func reconnecting() async throws {
        let applied = Log<ServerSentEvent>()
        func apply(_ event: ServerSentEvent) { applied.append(event) }
        MockURLProtocol.stub(
            .get, "/changes",
            respond: .sequence([.stream([.chunk("retry: 1\ndata: a\n\n")], headers: ["Content-Type": "text/event-stream"]), .status(204)]))
        for try await event in provider.events(Endpoint(.get, "/changes")) { apply(event) }
        #expect(applied.entries.map(\.data) == ["a"])
    }

    @Test func formats() async throws {
        MockURLProtocol.stub(.get, "/events", respond: .events([ServerSentEvent(data: "a")]))
        let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value
        for try await event in events { print(event.type, event.data) }
    }

    private func stubs() {
        let events = ["Hel", "lo", "[DONE]"].map { ServerSentEvent(data: $0) }
        MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(events, every: 0.1))
        MockURLProtocol.stub(
            .get, "/events", respond: .stream([.chunk("data: a\n"), .wait(0.5), .failure(URLError(.networkConnectionLost))]))
    }
}
