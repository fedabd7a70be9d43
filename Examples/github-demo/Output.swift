import Foundation

/// Standard output or standard error.
struct Output {
    static let standard = Output(.standardOutput)
    static let error = Output(.standardError)

    /// The number of columns of the terminal. `nil` if the output is no terminal.
    let width: Int?
    private let handle: FileHandle
    private let hasStyles: Bool

    private init(_ handle: FileHandle) {
        let environment = ProcessInfo.processInfo.environment
        var size = winsize()
        let isTerminal = isatty(handle.fileDescriptor) == 1
        self.handle = handle
        width = isTerminal && ioctl(handle.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
        // https://no-color.org
        hasStyles = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    func print(_ text: String) throws { try handle.write(contentsOf: Data("\(text)\n".utf8)) }

    func bold(_ text: String) -> String { styled(text, 1) }
    func dim(_ text: String) -> String { styled(text, 2) }
    func red(_ text: String) -> String { styled(text, 31) }

    private func styled(_ text: String, _ code: Int) -> String { hasStyles ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

extension String {
    /// The text on one line. It comes from a server, so it must not control the terminal, or turn the direction of what follows.
    var printable: String { String(String.UnicodeScalarView(unicodeScalars.map { $0.isPrintable ? $0 : " " })) }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !properties.isBidiControl
        }
    }
}
