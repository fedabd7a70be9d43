import Foundation

/// Runs `work` on a thread with the stack that secondary threads have on Apple's systems.
package func onSmallStack(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            work()
            continuation.resume()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }
}
