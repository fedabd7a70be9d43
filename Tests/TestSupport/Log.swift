package import MiniRx

/// Entries in order, appended from any thread.
package final class Log<Entry: Sendable>: Sendable {
    private let state = Locked<[Entry]>([])

    package init() {}

    package var entries: [Entry] { state.withLock { $0 } }

    package var count: Int { state.withLock(\.count) }

    package func append(_ entry: Entry) { state.withLock { $0.append(entry) } }

    package func removeAll() { _ = state.withLock { exchange(&$0, with: []) } }
}

extension Log where Entry == String {
    /// A closure that logs `entry`.
    package func adds(_ entry: String) -> @Sendable () -> Void { { self.append(entry) } }

    /// A disposable that logs `entry` each time it is disposed.
    package func disposable(_ entry: String = "release") -> any Disposable { LoggingDisposable(log: self, entry: entry) }
}

private struct LoggingDisposable: Disposable {
    let log: Log<String>
    let entry: String
    func dispose() { log.append(entry) }
}

/// An object that a closure captures, so that a test sees when the closure is released.
package final class Token: Sendable {
    package init() {}
}

/// Calls a closure when it is released.
package final class OnRelease: Sendable {
    private let action: @Sendable () -> Void
    package init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
}
