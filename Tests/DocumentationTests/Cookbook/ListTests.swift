import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private struct Item: Codable, Equatable { let name: String }

extension APIResponse {
    /// The URL that the header `Link` names as the next page (RFC 8288).
    fileprivate var nextPage: URL? {
        for link in (value(forHTTPHeaderField: "Link") ?? "").components(separatedBy: ",") {
            let parts = link.components(separatedBy: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.dropFirst().contains(#"rel="next""#) else { continue }
            return URL(string: parts[0].trimmingCharacters(in: CharacterSet(charactersIn: "<>")), relativeTo: request.url)?.absoluteURL
        }
        return nil
    }
}

private func itemsByLink(_ provider: DefaultAPIProvider, at path: RequestPath = "/items") -> Single<[Item]> {
    provider.request(Endpoint<[Item]>(.get, path).withResponse()).flatMap { items, response in
        guard let next = response.nextPage else { return .just(items) }
        return itemsByLink(provider, at: .url(next)).map { items + $0 }
    }
}

private func itemsByNumber(_ provider: DefaultAPIProvider, page: Int = 1) -> Single<[Item]> {
    provider.request(Endpoint<[Item]>(.get, "/items", query: ["page": page, "per_page": 100])).flatMap { items in
        items.count < 100 ? .just(items) : itemsByNumber(provider, page: page + 1).map { items + $0 }
    }
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

private func upload(_ photo: URL, report: @escaping @Sendable (Double) -> Void) -> Endpoint<Void> {
    Endpoint(.put, "/photo", body: .file(photo, contentType: "image/jpeg")).onProgress { progress in
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
        #expect(try await itemsByLink(provider).value == [a, b])
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
        let log = Log<Double>()
        try await provider.request(upload(photo) { log.append($0) }).value
        #expect(log.entries.last == 1)
    }
}
