// The compiler finds these only in code that has no other error.
import MiniRx

class Cache { var values: [Int] = [] }

func fill(_ cache: Cache, from single: Single<Int>) -> any Disposable {
    // error: sending 'cache' risks causing data races
    single.observe(on: MainActor.shared).subscribe(onSuccess: { cache.values.append($0) })
}

func countEvents(of single: Single<Int>) -> Int {
    var count = 0
    // error: sending 'count' risks causing data races
    _ = single.observe(on: MainActor.shared).subscribe(onSuccess: { _ in count += 1 })
    count += 1
    return count
}
