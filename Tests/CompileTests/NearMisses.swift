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
    _ = provider.request(Search()).asObservable().map(\.count)  // error: value of type 'Single<[Item]>' has no member 'asObservable'
    _ = provider.request(Search()).observe(on: .main)  // error: cannot infer contextual base in reference to member 'main'
    _ = provider.request(Search()).observe(on: queue)  // error: no exact matches in call to instance method 'observe'
}
