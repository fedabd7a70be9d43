import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct Item: Codable, Equatable { let name: String }

private func items(_ provider: some APIProvider) -> Single<[Item]> {
    provider.pages(Endpoint<[Item]>(.get, "/items")).all(\.self, maxPages: 100)
}

private func itemsByNumber(_ provider: some APIProvider) -> Single<[Item]> {
    @Sendable func page(_ number: Int) -> Endpoint<(number: Int, items: [Item])> {
        Endpoint<[Item]>(.get, "/items", query: ["page": number, "per_page": 100]).map { (number, $0) }
    }
    return provider.pages(page(1)) { last, _ in last.items.count < 100 ? nil : page(last.number + 1) }
        .all(\.items, maxPages: 100)
}

private struct Cached<Value: Sendable>: Sendable {
    let value: Value
    let etag: String?
}

private func items(since cached: Cached<[Item]>? = nil) -> Endpoint<Cached<[Item]>> {
    Endpoint(.get, "/items", headers: ["If-None-Match": cached?.etag]) { response in
        if response.statusCode == 304, let cached { return cached }
        return Cached(value: try response.decode([Item].self), etag: response.value(forHTTPHeaderField: "ETag"))
    }
    .validating { response in
        guard 200...299 ~= response.statusCode || response.statusCode == 304 else { throw APIError.unacceptableStatus(response) }
    }
}

private func upload(_ photo: URL, report: @escaping @MainActor (Double) -> Void) -> Endpoint<Void> {
    Endpoint(.put, "/photo", body: .file(photo, contentType: "image/jpeg"))
        .onProgress(on: MainActor.shared) { progress in
            guard let total = progress.bytesToSend, total > 0 else { return }
            report(Double(progress.bytesSent) / Double(total))
        }
}

@Suite("The cookbook: lists and files", .mockNetwork)
struct ListTests {
    private let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())

    @Test("Pages are followed by their links")
    func links() async throws {
        let (a, b) = (Item(name: "a"), Item(name: "b"))
        MockURLProtocol.stub(
            .get, "/items", times: 1, respond: .json([a], headers: ["Link": #"<https://api.example.com/items?page=2>; rel="next""#]))
        MockURLProtocol.stub(.get, "/items", query: ["page": 2], respond: .json([b]))
        #expect(try await items(provider).value == [a, b])
    }

    @Test("Pages are counted until one is not full")
    func numbers() async throws {
        MockURLProtocol.stub(.get, "/items", query: ["page": 1], respond: .json(Array(repeating: Item(name: "a"), count: 100)))
        MockURLProtocol.stub(.get, "/items", query: ["page": 2], respond: .json([Item(name: "b")]))
        #expect(try await itemsByNumber(provider).value.count == 101)
    }

    @Test("What has not changed is not sent again")
    func etag() async throws {
        MockURLProtocol.stub(.get, "/items", respond: .json([Item(name: "a")], headers: ["ETag": #""1""#]))
        MockURLProtocol.stub(.get, "/items", headers: ["If-None-Match": #""1""#], respond: .status(304))
        let first = try await provider.request(items()).value
        let second = try await provider.request(items(since: first)).value
        #expect(second.value == [Item(name: "a")])
        #expect(MockURLProtocol.requests.map { $0.headers["If-None-Match"] } == [nil, #""1""#])
    }

    @Test("An upload tells how far it is")
    func progress() async throws {
        let folder = TemporaryFolder()
        let photo = folder.url("photo.jpg")
        try Data(repeating: 1, count: 100).write(to: photo)
        MockURLProtocol.stub(.put, "/photo", respond: .status(204))
        let (log, done) = (Log<Double>(), Signals<Void>())
        let subscription = provider.request(upload(photo) { log.append($0) }).observe(on: MainActor.shared).subscribe { _ in done.send(()) }
        await done.next()
        #expect(log.entries.last == 1)
        withExtendedLifetime(subscription) {}
    }
}
