import MiniRx

/// Counts the sign-outs in this process. A request of an earlier epoch than the last sign-out of its middleware belongs to a user who has left.
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
