// expect: warning: mutation of captured var 'count' in concurrently-executing code
import MiniRx

func countEvents(of single: Single<Int>) -> any Disposable {
    var count = 0
    return single.subscribe(onSuccess: { _ in count += 1 })
}
