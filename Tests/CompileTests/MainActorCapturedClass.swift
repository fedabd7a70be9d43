// expect: error: sending 'cache' risks causing data races
import MiniRx

class Cache { var values: [Int] = [] }

func fill(_ cache: Cache, from single: Single<Int>) -> any Disposable {
    single.observe(on: MainActor.shared).subscribe(onSuccess: { cache.values.append($0) })
}
