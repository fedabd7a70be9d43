import Foundation

/// Standard output or standard error.
struct Output {
    /// The number of columns of the terminal. `nil` if the output is no terminal.
    let width: Int?
    private let handle: FileHandle
    private let hasStyles: Bool

    static let standard = Output(.standardOutput)
    static let error = Output(.standardError)

    private init(_ handle: FileHandle) {
        let environment = ProcessInfo.processInfo.environment
        var size = winsize()
        let isTerminal = isatty(handle.fileDescriptor) == 1
        self.handle = handle
        width = isTerminal && ioctl(handle.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
        // https://no-color.org
        hasStyles = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Creates an output that goes nowhere, with or without styles, for a terminal of `width`.
    init(width: Int?, hasStyles: Bool) {
        self.width = width
        self.hasStyles = hasStyles
        handle = .nullDevice
    }

    /// Opens descriptors that the program was started without, so that no socket or file takes their place. Writing to them then fails.
    static func keepStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
            // `open` takes the lowest free number, which is this one, because the lower ones are open by now.
            if fcntl(descriptor, F_GETFD) < 0 { _ = open("/dev/null", mode) }
        }
    }

    /// Throws if the output cannot be written, for example because the disk is full.
    func print(_ text: String) throws {
        do {
            try handle.write(contentsOf: Data("\(text)\n".utf8))
        } catch {
            throw Failure(reason: error.localizedDescription)
        }
    }

    struct Failure: LocalizedError {
        let reason: String
        var errorDescription: String? { "The output cannot be written: \(reason)" }
    }

    func bold(_ text: String) -> String { styled(text, 1) }
    func dim(_ text: String) -> String { styled(text, 2) }
    func red(_ text: String) -> String { styled(text, 31) }

    private func styled(_ text: String, _ code: Int) -> String { hasStyles ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
