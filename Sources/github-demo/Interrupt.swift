import Foundation

/// Ctrl-C.
enum Interrupt {
    /// Calls `action` in place of ending the program, as long as the source is kept.
    static func handled(by action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler(handler: action)
        source.resume()
        return source
    }

    /// Ends the program by the signal itself, so that a shell sees it (as 130) and ends its own loop, too.
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
