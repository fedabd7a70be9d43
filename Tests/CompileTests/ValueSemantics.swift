// expect: nothing
import MiniRx

struct Item: Sendable { let name: String }

func names(_ single: Single<[Item]>, prefix: String) async throws -> [String] {
    let scheduler: any Scheduler = MainScheduler.instance
    return try await Single.zip(single, .just(1)) { items, count in items.prefix(count) }
        .map { items in items.map { prefix + $0.name } }
        .retry(3)
        .observe(on: scheduler)
        .value
}
