import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

private struct Item: Codable {}
private struct Row: Codable {}

private struct Chat: APIRequest {
    let prompt: String
    var endpoint: Endpoint<ServerSentEvents> { Endpoint(.post, "/v1/chat", body: .json(["prompt": prompt])) }
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

@MainActor
private final class Model {
    var text = ""
    func send(_ prompt: String) {}

    func receive(_ provider: DefaultAPIProvider, _ bag: DisposeBag, _ show: @escaping @Sendable (any Error) -> Void) {
        let model = self
        provider.request(Chat(prompt: "Hi"))
            .flatMap { events in events.forEach { @MainActor event in model.text += event.data } }
            .subscribe(onFailure: { show($0) })
            .disposed(by: bag)
    }

    func feed(_ model: Model) async {
        let feed = StreamFeed()
        MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(from: feed))
        model.send("Hi")

        feed.send(ServerSentEvent(data: "Hel"))
        await feed.waitUntilRead()
        #expect(model.text == "Hel")
        feed.fail(URLError(.networkConnectionLost))
    }
}

/// The rows of the tables on moving.
private func moved(_ provider: DefaultAPIProvider, _ subscription: any Disposable) {
    _ = Endpoint<ByteStream>(.get, "/file")
    _ = Endpoint<TextLines>(.get, "/log")
    _ = Endpoint<JSONLines<Item>>(.get, "/items")
    _ = provider.events(Endpoint(.get, "/changes"))
    subscription.dispose()
}

private func chat(_ provider: DefaultAPIProvider) async throws {
    let events = try await provider.request(Chat(prompt: "Hi")).value
    for try await event in events { print(event.data) }
}

private func types(_ provider: DefaultAPIProvider) async throws {
    let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events")).value
    for try await event in events { print(event.type, event.data) }
}

private func others(_ provider: DefaultAPIProvider, _ file: FileHandle, _ apply: (ServerSentEvent) -> Void) async throws -> [Row] {
    var rows: [Row] = []
    for try await row in try await provider.request(Endpoint<JSONLines<Row>>(.get, "/rows")).value { rows.append(row) }
    for try await line in try await provider.request(Endpoint<TextLines>(.get, "/log")).value { print(line) }
    let bytes = try await provider.request(Endpoint<ByteStream>(.get, "/dump")).value
    for try await chunk in bytes { try file.write(contentsOf: chunk) }
    for try await event in provider.events(Endpoint(.get, "/changes")) { apply(event) }
    return rows
}

private func stubs() {
    let events = ["Hel", "lo", "[DONE]"].map { ServerSentEvent(data: $0) }
    MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(events, every: 0.1))
    MockURLProtocol.stub(.get, "/events", respond: .stream([.chunk("data: a\n"), .wait(0.5), .failure(URLError(.networkConnectionLost))]))
}
