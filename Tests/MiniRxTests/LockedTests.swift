import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Locked")
struct LockedTests {
    @Test("No change is lost, however many threads make them, and a closure that throws leaves it unlocked")
    func changes() {
        let count = Locked(0)
        let change: @Sendable () -> Void = {
            for number in 0..<2_000 {
                try? count.withLock { count in
                    let old = count
                    // Another thread would change it now.
                    if number.isMultiple(of: 20) { sched_yield() }
                    count = old + 1
                    if count.isMultiple(of: 100) { throw TestError() }
                }
            }
        }
        race(change, change, change, change)
        #expect(count.withLock { $0 } == 8_000)
    }
}
