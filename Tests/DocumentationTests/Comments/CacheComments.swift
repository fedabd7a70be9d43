import APIProvider
import Foundation
import MiniRx
import ResponseCache
import TestSupport

private let api = example
private struct Feed: Codable { let items: [String] }
private struct Item: Codable {}

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

@MainActor
private final class FeedModel {
    var items: [String] = []
    private let provider = DefaultAPIProvider(baseURL: api)
    private let cache = CacheMiddleware()
    private let authentication = AuthenticationMiddleware { _ in .just("") }
    private let bag = DisposeBag()

    func show(_ error: any Error) {}

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
