import Foundation

/// Standard output or standard error, and what it is.
struct Output {
    /// How many columns a terminal has; `nil` when the output goes elsewhere.
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

    /// One that styles nothing or everything, for a terminal of `width`.
    init(width: Int?, hasStyles: Bool) {
        self.width = width
        self.hasStyles = hasStyles
        handle = .nullDevice
    }

    /// Throws when the output takes no more, as on a full disk.
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
