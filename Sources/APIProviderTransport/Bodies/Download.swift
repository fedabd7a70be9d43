import Foundation
package import MiniRx

/// Keeps the file of a download on its way from the transport to the endpoint, because a middleware may make the response anew.
package final class Download: Sendable {
    private let file = Locked<PartialFile?>(nil)

    package init() {}

    func receive(_ file: PartialFile) { _ = self.file.withLock { exchange(&$0, with: file) } }

    /// Returns the whole file that has come last, and keeps it no longer.
    @discardableResult
    package func take() -> PartialFile? { file.withLock { $0.take() } }
}

extension Single {
    /// Calls `cleanUp` before the event is delivered, and again when the single is disposed.
    package func cleaningUp(_ cleanUp: @escaping @Sendable () -> Void) -> Single {
        .create { observer in
            let subscription = subscribe { event in
                cleanUp()
                observer(event)
            }
            return Disposables.create {
                subscription.dispose()
                cleanUp()
            }
        }
    }
}
