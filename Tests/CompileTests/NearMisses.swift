// expect: errors at their lines
import APIProvider
import Foundation
import MiniRx

struct Item: Codable, Sendable { let name: String }
struct Search: APIRequest {
    let endpoint = Endpoint<[Item]>(.get, "/search")
}

func load(_ provider: DefaultAPIProvider, _ any: any APIProvider, _ queue: DispatchQueue) async throws {
    let items: [Item] = try await any.request(Search())  // error: cannot convert value of type 'Single<[Item]>' to specified type '[Item]'
    _ = items
    _ = provider.request(Search()).asObservable().map(\.count)  // error: value of type 'Single<[Item]>' has no member 'asObservable'
    _ = provider.request(Search()).observe(on: .main)  // error: reference to member 'main' cannot be resolved without a contextual type
    _ = provider.request(Search()).observe(on: queue)  // error: no exact matches in call to instance method 'observe'
}
