#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Prints messages for people, so that they do not mix with the output of the program.
package enum StandardError {
    /// Prints `text` and a line break in one call, so that lines from several threads do not mix.
    package static func print(_ text: String) {
        // If standard error does not take the text, there is nobody to tell.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
