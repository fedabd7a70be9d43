import Foundation

/// Runs `work` on a thread with the stack that secondary threads have on Apple's systems, and waits for its end.
package func onSmallStack(_ work: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
        work()
        end.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    end.wait()
}
