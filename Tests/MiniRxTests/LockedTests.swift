import Dispatch
import MiniRx
import Testing

@Suite("Locked")
struct LockedTests {
    @Test("However many threads change a value, none of the changes is lost")
    func races() {
        let count = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<5_000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 40_000)
    }
}
