#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// What the library does when nobody else does.
public enum Hooks {
    private static let handler = Locked<@Sendable (any Error) -> Void>(printToStandardError)

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

    private static func printToStandardError(_ error: any Error) {
        let line = "MiniRx: nobody handled this error (subscribe with onFailure:, or set Hooks.defaultErrorHandler): \(error)\n"
        // In one call, so that lines from several threads stay whole; what standard error does not take is nobody's to report.
        _ = Array(line.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
