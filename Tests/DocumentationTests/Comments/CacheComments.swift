import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import ResponseCache
import TestSupport
import Testing

private let api = example

private struct Feed: Codable, Equatable { let items: [String] }

private func cached(_ folder: URL, _ authentication: AuthenticationMiddleware<String>) -> Single<Feed> {
    let cache = CacheMiddleware(DiskCache(folder, maxBytes: 50_000_000))
    let provider = DefaultAPIProvider(baseURL: api, middlewares: [cache, RetryMiddleware(), authentication])

    return
        provider.request(Endpoint<Feed>(.get, "/feed").option(\.cachePolicy, .staleIfOffline))
}

private func store() -> CacheMiddleware {
    let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0].appendingPathComponent("Responses")
    let cache = CacheMiddleware(DiskCache(folder, maxBytes: 50_000_000))
    return cache
}

/// The code in the tables of the moving guides.
private func moved(_ folder: URL) -> [Any] {
    [
        CacheMiddleware(DiskCache(folder)),
        Endpoint<Data>(.get, "/items").option(\.cachePolicy, .onlyIfCached),
        Endpoint<Item>(.get, "/me").option(\.cachePolicy, .reload),
        Endpoint<Data>(.get, "/items").withResponse().map { $1.metrics },
    ]
}

private struct Item: Codable {}

@MainActor
private final class FeedModel {
    var items: [String] = [] { didSet { changed.send(items) } }
    let changed = Signals<[String]>()
    private let provider: DefaultAPIProvider
    private let cache: CacheMiddleware
    private let authentication = AuthenticationMiddleware { _ in .just("") }
    private let bag = DisposeBag()

    init(provider: DefaultAPIProvider, cache: CacheMiddleware) { (self.provider, self.cache) = (provider, cache) }

    func show(_ error: any Error) { Issue.record(error) }

    func signOut() {
        authentication.credential = nil
        cache.removeAll()
    }

    func show(_ feed: Endpoint<Feed>) {
        let old = provider.request(feed.option(\.cachePolicy, .onlyIfCached)).map { Optional($0) }.catchAndReturn(nil)
        let new = provider.request(feed.option(\.cachePolicy, .reload))
        old.observe(on: MainActor.shared).subscribe(with: self, onSuccess: { $0.items = $1?.items ?? $0.items }).disposed(by: bag)
        new.observe(on: MainActor.shared).subscribe(with: self, onSuccess: { $0.items = $1.items }, onFailure: { $0.show($1) })
            .disposed(by: bag)
    }
}

@Suite("The examples of the cache", .mockNetwork)
struct CacheCommentTests {
    @Test("The stored response is shown before the new one, and nothing is stored after the sign-out")
    @MainActor func oldThenNew() async throws {
        MockURLProtocol.stub(
            .get, "/feed", respond: .sequence([.json(Feed(items: ["old"])), .json(Feed(items: ["new"])), .json(Feed(items: ["other"]))]))
        let cache = CacheMiddleware()
        let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport(), middlewares: [cache])
        let feed = Endpoint<Feed>(.get, "/feed")
        _ = try await provider.request(feed).value
        let model = FeedModel(provider: provider, cache: cache)
        model.show(feed)
        #expect(await model.changed.next(2) == [["old"], ["new"]])
        model.signOut()
        model.show(feed)
        #expect(await model.changed.next(2) == [["new"], ["other"]])
    }
}
