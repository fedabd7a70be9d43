// A request is a Single: without `.value`, there is nothing to await.
import APIProvider
import MiniRx

struct Item: Codable, Sendable { let name: String }

func send(_ provider: any APIProvider, _ request: Endpoint<Item>, _ lines: Endpoint<JSONLines<Item>>) async throws {
    let item = try await provider.request(request)  // warning: no 'async' operations occur within 'await' expression
    print(item.name)  // error: value of type 'Single<Item>' has no member 'name'
    // error: for-in loop requires 'Single<JSONLines<Item>>' to conform to 'AsyncSequence'
    for try await line in provider.request(lines) { print(line) }
    for try await line in try await provider.request(lines).value { print(line) }
}
