import MiniRx
import TestSupport
import Testing

@Suite("Locked")
struct LockedTests {
    @Test("No change is lost, however many threads make them, and a closure that throws leaves it unlocked")
    func changes() {
        let count = Locked(0)
        let change: @Sendable () -> Void = {
            for _ in 0..<50_000 {
                try? count.withLock { count in
                    count += 1
                    if count.isMultiple(of: 100) { throw TestError() }
                }
            }
        }
        race(change, change, change, change)
        #expect(count.withLock { $0 } == 200_000)
    }
}
