import Foundation

/// A value and its lock, as the root package has one for itself.
package final class Locked<State>: @unchecked Sendable {  // `state` is reached under the lock alone.
    private var state: State
    private let lock = NSLock()

    package init(_ state: State) { self.state = state }

    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
