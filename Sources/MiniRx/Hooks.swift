import Foundation

/// Settings for the whole process.
public enum Hooks {
    /// The handler in a box: a bare closure gets a thunk at each read and write.
    private struct Handler {
        let handle: @Sendable (any Error) -> Void
    }

    private static let handler = Locked(
        Handler { error in
            let text = "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
            StandardError.print("MiniRx: unhandled error (handle it in onFailure:, or set Hooks.defaultErrorHandler): \(text)")
        })

    /// Called with every unhandled error, and with errors thrown by the `after…` closures of `do`.
    ///
    /// A handler may be called on any thread. The default prints one line to standard error.
    public static var defaultErrorHandler: @Sendable (any Error) -> Void {
        get { handler.withLock { $0 }.handle }
        set {
            var handler = Handler(handle: newValue)
            Self.handler.withLock { swap(&$0, &handler) }
        }
    }
}

/// Prints messages for people, apart from the program's output.
package enum StandardError {
    /// Prints `text` and a line break in one call, so that lines from several threads do not mix.
    package static func print(_ text: String) {
        // A failure here could be reported nowhere.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
