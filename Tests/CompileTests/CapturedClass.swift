// expect: warning: capture of 'cache' with non-Sendable type 'Cache' in a '@Sendable' closure
import MiniRx

class Cache { var values: [Int] = [] }

func fill(_ cache: Cache, from single: Single<Int>) -> Single<Int> {
    single.do(onSuccess: { cache.values.append($0) })
}
