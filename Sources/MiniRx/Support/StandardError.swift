import Foundation

/// Prints messages for people, apart from the program's output.
package enum StandardError {
    /// Prints `text` and a line break in one call, so that lines from several threads do not mix.
    package static func print(_ text: String) {
        // A failure here could be reported nowhere.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
