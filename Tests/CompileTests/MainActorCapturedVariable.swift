// expect: error: sending 'count' risks causing data races
import MiniRx

func countEvents(of single: Single<Int>) -> Int {
    var count = 0
    _ = single.observe(on: MainActor.shared).subscribe(onSuccess: { _ in count += 1 })
    count += 1
    return count
}
