import Foundation

/// Ctrl-C.
enum Interrupt {
    /// Calls `action` instead of ending the program, as long as you keep the source.
    static func handled(by action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler(handler: action)
        source.resume()
        return source
    }

    /// Ends the program with the signal itself. A shell then sees the status 130 and ends its own loop.
    static func endProgram() -> Never {
        signal(SIGINT, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGINT)
        exit(130)
    }
}
