import Foundation

/// The seconds for which `work` has kept this thread computing. What other threads do does not count.
package func cpuSeconds(_ work: () -> Void) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    work()
    return now() - start
}

/// Whether the seconds that a count takes grow with the count, and not with its square: eight times as many would take 64 times as long.
package func isLinear(_ count: Int, seconds: (Int) -> Double) -> Bool {
    (0..<3).contains { _ in seconds(8 * count) < 32 * seconds(count) }
}
