import MiniRx

/// Makes the n-th call fail, for every n, as SQLite's and curl's tests do.
package final class Faults: Sendable {
    package struct Failure: Error {
        package init() {}
    }

    private let failing: Int
    private let isLasting: Bool
    private let calls = Locked(0)

    private init(failing: Int, isLasting: Bool) { (self.failing, self.isLasting) = (failing, isLasting) }

    /// Whether a call has failed.
    package var hasFailed: Bool { calls.withLock { $0 } >= failing }

    /// Counts a call. True if it is to fail.
    package func isNext() -> Bool {
        calls.withLock { calls in
            calls += 1
            return calls == failing || isLasting && calls > failing
        }
    }

    /// Counts a call, which throws if it is to fail.
    package func call() throws {
        if isNext() { throw Failure() }
    }

    /// Runs `body` with the first call failing, then with the second, and so on, until a run has no failure.
    ///
    /// - Parameter isLasting: Whether all calls after the one that fails fail, too.
    /// - Returns: How many calls have failed in their turn.
    @discardableResult
    package static func inTurn(
        isLasting: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: (Faults) async throws -> Void
    ) async rethrows -> Int {
        var failing = 1
        while true {
            let faults = Faults(failing: failing, isLasting: isLasting)
            try await body(faults)
            guard faults.hasFailed else { return failing - 1 }
            failing += 1
        }
    }
}
