// expect: errors at their lines
import APIProvider
import Foundation
import MiniRx

struct Item: Codable, Sendable { let name: String }
struct Search: APIRequest {
    let endpoint = Endpoint<[Item]>(.get, "/search")
}

func load(_ provider: DefaultAPIProvider, _ any: any APIProvider, _ queue: DispatchQueue) async throws {
    let item: Item = try await provider.request(Endpoint(.get, "/item"))  // error: write .value behind it
    let items: [Item] = try await any.request(Search())  // error: write .value behind it
    _ = (item, items)
    _ = provider.request(Search()).asObservable().map(\.count)  // error: leave it out: a Single
    _ = provider.request(Search()).observe(on: .main)  // error: for the main queue, write observe(on: MainActor.shared)
    _ = provider.request(Search()).observe(on: queue)  // error: for another, observe(on: SerialDispatchQueueScheduler(queue: queue))
}
