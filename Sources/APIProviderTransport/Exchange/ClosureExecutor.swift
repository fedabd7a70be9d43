import Dispatch

/// Runs closures: at once, or on another thread.
package struct ClosureExecutor: Sendable {
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.run = run }

    package func execute(_ closure: @escaping @Sendable () -> Void) { run(closure) }

    /// Runs closures on the caller's thread.
    package static let immediate = ClosureExecutor { $0() }

    /// Runs closures on a concurrent queue.
    package static let background = ClosureExecutor { queue.async(execute: $0) }

    private static let queue = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)
}
