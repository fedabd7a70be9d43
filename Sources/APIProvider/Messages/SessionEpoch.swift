import MiniRx

/// Counts the sign-outs in this process. A request that began before the last sign-out belongs to the previous user.
enum SessionEpoch {
    private static let count = Locked(0)

    static var current: Int { count.withLock { $0 } }

    static func advance() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
