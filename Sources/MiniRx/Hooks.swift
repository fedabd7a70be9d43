/// What the library does when nobody else does.
public enum Hooks {
    private static let handler = Locked<@Sendable (any Error) -> Void> { error in
        let text = "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
        StandardError.print("MiniRx: nobody handled this error (subscribe with onFailure:, or set Hooks.defaultErrorHandler): \(text)")
    }

    /// What becomes of an error that no subscriber handles, and of one thrown by an `after…` closure of `do`.
    ///
    /// At first it prints one line to standard error. It may be called from any thread.
    public static var defaultErrorHandler: @Sendable (any Error) -> Void {
        get { handler.withLock { $0 } }
        set {
            var handler = newValue
            Self.handler.withLock { swap(&$0, &handler) }
        }
    }
}
