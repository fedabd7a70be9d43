import MiniRx

/// Counts the sign-outs in this process. A subscription before the last sign-out belongs to the previous user.
package enum SignOutCounter {
    private static let count = Locked(0)

    package static var current: Int { count.withLock { $0 } }

    static func advance() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
